"""``python -m judge``: the ``judge`` command by the interpreter that is named."""

from judge.cli.main import main

if __name__ == "__main__":
    main()
