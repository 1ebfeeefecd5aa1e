"""Direct Preference Optimization of a judge, after its SFT: ``judge dpo`` as a script.

python recipes/dpo.py                                # the demo, after python recipes/sft.py
python recipes/dpo.py recipes/own-domain/dpo.yaml    # trains on the adapter that its sft.yaml made
python recipes/dpo.py RECIPE.yaml checkpoints=5      # and after a kill, or after it was told to stop:
python recipes/dpo.py RECIPE.yaml checkpoints=5 --resume
"""

import sys

from judge.cli.main import main

if __name__ == "__main__":
    main(["dpo", *sys.argv[1:]])
