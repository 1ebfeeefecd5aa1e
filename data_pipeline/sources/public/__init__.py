"""One module per public set: ``read`` streams its samples, ``SPLITS`` names its splits if it has several."""
