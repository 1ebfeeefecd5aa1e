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
