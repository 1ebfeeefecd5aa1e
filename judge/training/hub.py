"""Pushing a finished judge to the Hub, into a private repository."""

import os
from pathlib import Path

from judge.errors import InputError, JudgeError

LEFT_OUT = ["checkpoint-*/**", "best-*/**", "runs/**", ".*"]
"""What may lie beside a judge and is not a part of it: the state of a run, trackers' logs."""


def hub_token() -> str:
    """The token in the environment. Raises ``InputError`` where there is none."""
    token = os.environ.get("HF_TOKEN", "").strip()
    if not token:
        raise InputError(
            "no token to push with; set HF_TOKEN in the environment (a token with write access, "
            "https://huggingface.co/settings/tokens)",
            field="push_to_hub",
        )
    return token


def push(folder: Path, repository: str) -> None:
    """Upload a judge's folder.

    Args:
        folder: the finished judge.
        repository: ``owner/name``; made, private, where it is not there. A public one is refused.

    Raises:
        InputError: there is no token.
        JudgeError: the Hub refused; the judge is saved in ``folder`` all the same.
    """
    from huggingface_hub import HfApi

    api = HfApi(token=hub_token())
    kept = f"the judge is saved in {folder}"
    try:
        api.create_repo(repository, private=True, exist_ok=True)
        private = api.model_info(repository).private
        if private:
            api.upload_folder(repo_id=repository, folder_path=folder, ignore_patterns=LEFT_OUT)
    except Exception as error:  # the client has many, with no common root
        reason = str(error).strip().partition("\n")[0]
        raise JudgeError(f"{kept}, but could not be pushed to {repository} ({reason:.200})") from error
    if not private:
        raise JudgeError(f"{kept}, but was not pushed: {repository} is public; name a private repository")
    print(f"pushed to {repository} (private)", flush=True)
