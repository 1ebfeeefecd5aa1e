"""``judge serve``: a judge over HTTP (docs/serving.md).

limits.py     how much a server takes on
models.py     what goes over the wire
reading.py    from a request to samples, every limit kept before anything is parsed
batching.py   requests that arrive together are judged together
metrics.py    what Prometheus reads
app.py        the endpoints
"""
