"""Supervised fine-tuning of a judge: ``judge sft`` as a script, for launchers that want one.

python recipes/sft.py                                # the demo; builds its data set where that is missing
accelerate launch recipes/sft.py                     # the same, on the GPUs that there are, else on the CPU
accelerate launch --config_file accelerate_configs/single_gpu.yaml recipes/sft.py RECIPE.yaml epochs=2
python recipes/sft.py RECIPE.yaml checkpoints=5      # and after a kill, or after it was told to stop:
python recipes/sft.py RECIPE.yaml checkpoints=5 --resume
"""

import sys

from judge.cli.main import main

if __name__ == "__main__":
    main(["sft", *sys.argv[1:]])
