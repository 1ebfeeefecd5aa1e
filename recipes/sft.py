"""Supervised fine-tuning of a judge.

python recipes/sft.py recipes/demo/sft.yaml
accelerate launch --config_file accelerate_configs/single_gpu.yaml recipes/sft.py RECIPE.yaml epochs=2
python recipes/sft.py RECIPE.yaml checkpoints=5      # and after a kill, or after it was told to stop:
python recipes/sft.py RECIPE.yaml checkpoints=5 --resume
"""

from pathlib import Path

from judge.cli.train import run_recipe
from judge.training.config import SFTRecipe
from judge.training.sft import train_sft

if __name__ == "__main__":
    raise SystemExit(
        run_recipe(SFTRecipe, train_sft, Path(__file__).parent / "demo" / "sft.yaml", __doc__ or "")
    )
