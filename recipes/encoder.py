"""Training an encoder judge: ``judge encoder`` as a script, for launchers that want one.

python recipes/encoder.py recipes/reference/encoder.yaml
accelerate launch --config_file accelerate_configs/single_gpu.yaml recipes/encoder.py RECIPE.yaml epochs=2
"""

import sys

from judge.cli.main import main

if __name__ == "__main__":
    main(["encoder", *sys.argv[1:]])
