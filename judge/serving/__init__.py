"""``judge serve``: a judge over HTTP (docs/serving.md).

limits.py     how much a server takes on
models.py     what goes over the wire
reading.py    from a request to samples, every limit kept before anything is parsed
batching.py   requests that arrive together are judged together
metrics.py    what Prometheus reads
page.py       the page of the server; assets/ holds its HTML, style and scripts
app.py        the endpoints
listening.py  the address, and how a server ends
"""

from typing import TYPE_CHECKING

from judge.lazy import lazy
from judge.serving.limits import Limits

if TYPE_CHECKING:
    from judge.serving.app import create_app

__all__ = ["Limits", "create_app"]

__getattr__, __dir__ = lazy(__name__, {"create_app": "judge.serving.app"})
