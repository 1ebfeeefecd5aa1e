"""A function in a process of its own: when it ends, nothing of it is left on the GPU.

pytest's own process must stay off the GPU, because a second process there would count as memory of the first.
"""

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from typing import Any


class OutOfMemory(RuntimeError):
    """The GPU's memory, or the part of it that the process may have, was not enough."""


def in_process(function: str, **arguments: Any) -> Any:
    """Call ``module:function`` with JSON arguments in a new process; returns its JSON result.

    Raises:
        OutOfMemory: there was not enough memory on the GPU.
        RuntimeError: anything else, with the end of what the process wrote.
    """
    command = [sys.executable, "-m", "tests.gpu.child", function, json.dumps(arguments)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        output, errors = process.communicate()
    except BaseException:  # such as a time limit: servers and engines that it started end with it
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    if process.returncode:
        kind = OutOfMemory if "OutOfMemoryError" in errors else RuntimeError
        raise kind(f"{function} ended with exit code {process.returncode}:\n{errors[-4000:]}")
    return json.loads(output.splitlines()[-1])


def main() -> None:
    """What the new process does."""
    function, arguments = sys.argv[1:]
    module, _, name = function.partition(":")
    result = getattr(import_module(module), name)(**json.loads(arguments))
    print(f"\n{json.dumps(result)}")


if __name__ == "__main__":
    main()
