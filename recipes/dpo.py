"""Direct Preference Optimization of a judge, from merged SFT weights.

judge merge runs/demo/sft -o runs/demo/sft-merged
python recipes/dpo.py recipes/demo/dpo.yaml
python recipes/dpo.py RECIPE.yaml checkpoints=5      # and after a kill, or after it was told to stop:
python recipes/dpo.py RECIPE.yaml checkpoints=5 --resume
"""

from pathlib import Path

from judge.cli.train import run_recipe
from judge.training.config import DPORecipe
from judge.training.dpo import train_dpo

if __name__ == "__main__":
    raise SystemExit(
        run_recipe(DPORecipe, train_dpo, Path(__file__).parent / "demo" / "dpo.yaml", __doc__ or "")
    )
