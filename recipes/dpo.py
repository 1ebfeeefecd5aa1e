"""Direct Preference Optimization of a judge, after its SFT: ``judge dpo`` as a script.

judge merge runs/demo/sft -o runs/demo/sft-merged
python recipes/dpo.py recipes/demo/dpo.yaml
python recipes/dpo.py RECIPE.yaml checkpoints=5      # and after a kill, or after it was told to stop:
python recipes/dpo.py RECIPE.yaml checkpoints=5 --resume
"""

import sys

from judge.cli.main import main

if __name__ == "__main__":
    main(["dpo", *sys.argv[1:]])
