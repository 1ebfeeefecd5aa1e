"""Joining a Ray cluster: where data is built and files are judged past one machine."""

import logging
import os
import socket
from typing import Any

from judge.errors import InputError


def join_cluster() -> Any:
    """Join the Ray cluster that ``RAY_ADDRESS`` names, or start one on this machine.

    Ray Data then keeps the order of what it is given, and draws no bars of its own.

    Returns:
        The module ``ray``, so that nobody uses it without a cluster.

    Raises:
        InputError: Ray is not installed, or no cluster answers.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
    try:
        import ray
        import ray.data
    except ImportError:
        raise InputError(
            "engine ray needs Ray; install it: pip install 'ray[data]', or 'hallucination-judge[ray]'"
        ) from None
    if not ray.is_initialized():
        _knock(os.environ.get("RAY_ADDRESS", ""))
        try:
            ray.init(log_to_driver=False, include_dashboard=False, logging_level=logging.ERROR)
        except (ConnectionError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())
            raise InputError(f"no Ray cluster could be joined ({reason:.200}); see RAY_ADDRESS") from None
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    return ray


def _knock(address: str) -> None:
    """Does anything answer at an address ``[ray://]HOST:PORT``? Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal():  # none, or a word that Ray knows
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"no Ray cluster answers at {address} ({error}); see RAY_ADDRESS") from None
