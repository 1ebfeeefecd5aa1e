"""Asking the Hub without waiting for it: its client retries for most of a minute without a network."""

from urllib.request import Request, urlopen

TIMEOUT = 10.0
"""Seconds."""


def hub_answers(model: str) -> bool:
    """Whether the Hub can be reached and has a ``config.json`` of this model for us."""
    from huggingface_hub import constants, get_token
    from huggingface_hub.utils import build_hf_headers

    if constants.HF_HUB_OFFLINE:
        return False
    address = f"{constants.ENDPOINT}/{model}/resolve/main/config.json"
    headers = build_hf_headers(token=get_token())
    try:
        request = Request(address, method="HEAD", headers=headers)  # noqa: S310
        with urlopen(request, timeout=TIMEOUT):  # noqa: S310 (the Hub's own address)
            return True
    except (OSError, ValueError):  # no network, a refusal, or an address that is none
        return False
