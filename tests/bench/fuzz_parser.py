"""Fuzz the verdict parser for some minutes, led by coverage (atheris; ``pip install atheris``).

    python -m tests.bench.fuzz_parser --minutes 10

Checks what ``tests/core/test_parsing_fuzz.py`` checks of any text. Prints the number of replies that were
tried and how many of them had a verdict; a failed check ends with its traceback, the reply, and a nonzero
exit code.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence


def reply_from(data: bytes, pieces: Sequence[str]) -> str:
    """A reply: bytes below 128 are pieces of judgements, the others begin a stretch of any characters."""
    parts = []
    at = 0
    while at < len(data):
        code, at = data[at], at + 1
        if code < 128:
            parts.append(pieces[code % len(pieces)])
        else:
            length = 2 * (code % 8 + 1)
            parts.append(
                data[at : at + length].decode("utf-16-le", "surrogatepass" if code & 8 else "replace")
            )
            at += length
    return "".join(parts)


def main() -> None:
    """Fuzz until the time is over or a check fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10)
    minutes = parser.parse_args().minutes

    import atheris

    with atheris.instrument_imports(include=["judge.prompting.parsing"]):
        from judge.prompting.parsing import parse
        from tests.core.test_parsing_fuzz import ENDINGS, MARKS, NAMES, WORDS, check

    pieces = [*MARKS, *NAMES, *WORDS, *ENDINGS]

    end = time.monotonic() + 60 * minutes
    counts = {"replies": 0, "verdicts": 0}

    def try_one(data: bytes) -> None:
        try:
            reply = reply_from(data, pieces)
        except UnicodeDecodeError:
            return
        try:
            check(reply)
        except BaseException:
            print(f"failed on {reply!a}", file=sys.stderr)
            raise
        counts["replies"] += 1
        counts["verdicts"] += parse(reply).label is not None
        if time.monotonic() > end:
            print(f"{counts['replies']} replies, {counts['verdicts']} with a verdict, no failure")
            sys.stdout.flush()
            os._exit(0)  # libFuzzer has no other way to be ended well

    with tempfile.TemporaryDirectory() as corpus:
        options = ["-max_len=400", "-verbosity=0", f"-artifact_prefix={corpus}/"]
        atheris.Setup([sys.argv[0], *options, corpus], try_one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
