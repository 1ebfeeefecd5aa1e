"""``judge serve``: a judge over HTTP (docs/serving.md).

limits.py     limits of a server
models.py     request and response bodies
reading.py    from a request to samples, within the limits
batching.py   requests that arrive together are judged together
metrics.py    metrics for Prometheus
page.py       the server's web page; its HTML, style and scripts are in assets/
app.py        the endpoints
listening.py  the address, and how a server shuts down
"""

from typing import TYPE_CHECKING

from judge.lazy import lazy
from judge.serving.limits import Limits

if TYPE_CHECKING:
    from judge.serving.app import create_app

__all__ = ["Limits", "create_app"]

__getattr__, __dir__ = lazy(__name__, {"create_app": "judge.serving.app"})
