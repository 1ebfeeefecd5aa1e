"""The ``judge`` command. Commands are in the packages they belong to; each is imported when it is called."""

import importlib
import os
import re
import shlex
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from types import FrameType
from typing import Any

from judge.errors import InputError, JudgeError, JudgeWarning, unknown
from judge.models.hardware import local_rank
from judge.progress import shown

COMMANDS = {
    "check": ("judge.cli.check", "Judge one answer."),
    "batch": ("judge.cli.batch", "Judge a file of samples; resumes after a kill."),
    "calibrate": ("judge.cli.calibrate", "Calibrate p(FAIL) on labelled samples; find thresholds."),
    "eval": ("eval.cli", "Measure a judge on benchmarks, next to simple baselines."),
    "report": ("eval.pages.cli", "Show results side by side: Markdown, HTML, model card."),
    "compare": ("eval.compare", "Compare two results sample by sample."),
    "annotate": ("eval.annotation.cli", "Write samples as tasks for Label Studio, for people to label."),
    "agreement": ("eval.annotation.cli", "Measure how far annotators agree; list disagreements."),
    "open-factual": ("eval.open_factual.cli", "Let a model answer questions itself, and score the answers."),
    "results": ("eval.registry", "Add a run to the registry of results, or check it."),
    "data": ("data_pipeline.cli", "Build data sets for training judges."),
    "sft": ("judge.cli.train", "Fine-tune a language model as a judge (SFT)."),
    "dpo": ("judge.cli.train", "Train it further on preferences (DPO)."),
    "encoder": ("judge.cli.train", "Train an encoder as a judge."),
    "teach": ("judge.cli.teach", "Train the toolkit's judge on your answers; measure before and after."),
    "recipes": ("judge.cli.recipes", "List the recipes that come with the toolkit, or copy them."),
    "serve": ("judge.cli.serve", "Serve a judge over HTTP."),
    "pack": ("judge.cli.pack", "Write a trained judge in a smaller file; average several seeds."),
    "merge": ("judge.cli.merge", "Merge a LoRA adapter into its base model."),
    "export": ("judge.cli.export", "Write a judge for llama.cpp, Ollama or ONNX Runtime."),
    "doctor": ("judge.cli.doctor", "Check whether a training recipe fits the device."),
    "demo": ("judge.cli.demo", "Build, train and measure a small judge, end to end."),
}
"""The module of each command, which has a function ``NAME_command``, or several of them in an ``app``."""

HELP = f"""usage: judge COMMAND ...

Make and measure hallucination judges: is an answer faithful to its document?

commands:
{chr(10).join(f"  {name:<12} {text}" for name, (_, text) in COMMANDS.items())}

'judge COMMAND --help' lists the options of a command.
Exit codes: 0 done, 1 the work failed, 2 the call, a config or an input file is wrong."""


INTERRUPTED = 130
"""Exit code after Ctrl-C."""
STOPPED = (INTERRUPTED, 143)
"""Exit codes after Ctrl-C and SIGTERM."""
GOES_ON: Mapping[str, list[str]] = {
    "eval": [],
    "data": [],
    "demo": [],
    "teach": [],
    **{name: ["--resume"] for name in ("batch", "sft", "dpo", "encoder")},
}
"""Commands that can continue after a stop, and the options to call them again with."""

HOME = re.compile(r"(--(?!document|question|answer)[\w-]+=)(~(?:/.*)?)")
"""An option with a path in the home folder, which shells expand at the beginning of a word alone.
``--answer`` and the other texts of ``judge check`` are no paths."""


def _one_line(message: Any, category: type[Warning], filename: str, lineno: int, line: Any = None) -> str:
    place = "" if issubclass(category, JudgeWarning) else f"{filename}:{lineno}: {category.__name__}: "
    return f"warning: {place}{message}\n"


@contextmanager
def ending_on_sigterm() -> Iterator[None]:
    """In the block, SIGTERM ends the work like Ctrl-C, so that temporary folders are cleaned up.

    A second SIGTERM, such as ``timeout`` sends, is ignored; forked processes end at once.
    """
    process = os.getpid()

    def stop(number: int, _: FrameType | None) -> None:
        if os.getpid() == process:
            signal.signal(number, signal.SIG_IGN)
            raise SystemExit(STOPPED[1])
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    before = signal.getsignal(signal.SIGTERM)
    ours = before is signal.SIG_DFL and threading.current_thread() is threading.main_thread()
    if ours:
        signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, before)


def main(arguments: Sequence[str] | None = None, *, a_step: bool = False) -> None:
    """Run the command line.

    Errors that a user can act on are printed as one line. Exit codes: 0 done, 1 the work failed, 2 the call,
    a config or an input file is wrong.

    Args:
        arguments: by default those of the process.
        a_step: this runs within another command, such as ``judge teach``, which itself says how to resume.
    """
    given = [in_home(word) for word in (sys.argv[1:] if arguments is None else arguments)]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")  # names of files may be no text
    # This program shows the progress; the libraries' own bars and advice would bury its messages.
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    warnings.formatwarning = _one_line
    try:
        with ending_on_sigterm(), shown():
            _start(given)
    except JudgeError as error:
        stopped = error.exit_code in STOPPED
        # Wrong input is wrong in all processes of a launch: the first on each machine says so.
        if local_rank() == 0 or not isinstance(error, InputError):
            print(f"error: {error}{going_on(given) if stopped and not a_step else ''}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    except ImportError as error:  # one that is missing was asked for before, by `require`
        library = (error.name or "").partition(".")[0]
        if library in ("judge", "data_pipeline", "eval"):
            raise
        print(f"error: {library or 'a library'} cannot be loaded: {error}; install it again", file=sys.stderr)
        raise SystemExit(1) from None
    except OSError:
        try:
            print(flush=True)  # fails again if it is standard output that cannot be written
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at the end
            reason = error.strerror
            print(f"error: standard output could not be written ({reason})", file=sys.stderr)
            raise SystemExit(1) from None
        raise
    except (KeyboardInterrupt, SystemExit) as end:
        code = end.code if isinstance(end, SystemExit) else INTERRUPTED
        if code not in STOPPED:  # after Ctrl-C, typer exits with one of these
            raise
        print(f"\nstopped{'' if a_step else going_on(given)}", file=sys.stderr)
        raise SystemExit(code) from None


def in_home(word: str) -> str:
    """``--out=~/judge`` with the home folder in place of ``~``; other words as they are."""
    found = HOME.fullmatch(word)
    return found[1] + os.path.expanduser(found[2]) if found else word  # noqa: PTH111 (a name may be a Hub id)


def _start(given: Sequence[str]) -> None:
    """Run the command, or show the help or the version."""
    if not given or given[0] in ("-h", "--help", "help"):
        print(HELP, flush=True)
        raise SystemExit(0 if given else 2)
    if given[0] == "--version":
        import judge

        print(f"judge {judge.__version__}", flush=True)
        raise SystemExit(0)
    name, *rest = given
    if name not in COMMANDS:
        raise InputError(unknown("command", name, COMMANDS))
    load_command(name)(args=rest, prog_name=f"judge {name}")


def load_command(name: str) -> Any:
    """Import a command; typer only now, so that ``judge --help`` answers at once."""
    module = importlib.import_module(COMMANDS[name][0])
    from judge.cli.help import command_of

    return command_of(getattr(module, f"{name.replace('-', '_')}_command", None) or module.app)


def going_on(given: Sequence[str]) -> str:
    """A message with the command that continues after a signal; empty if nothing is kept."""
    name, *rest = given
    named = any(word.startswith(("--out", "-o")) for word in rest)
    if name not in GOES_ON or (name == "eval" and not named):
        return ""
    if name != "data":  # an existing data set stays until the new one is complete
        rest = [word for word in rest if word not in ("--overwrite", "overwrite=true")]
    more = [] if "resume=true" in rest else [word for word in GOES_ON[name] if word not in rest]
    return f"; to resume: {shlex.join(['judge', name, *rest, *more])}"
