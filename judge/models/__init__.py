"""The language model under a judge: weights and number formats, attention over prefix trees, the head.

``architecture`` and ``hardware`` describe a model and a device without loading either, ``room`` checks if one
fits the other; ``checkpoint`` reads and writes weights tensor by tensor; ``bundled`` downloads the small
models that commands need.
"""
