"""Public sets: ``read`` of a module streams the samples of one, ``SPLITS`` names its splits if it has any.

``wrapped`` has a function for each set whose form is read elsewhere.
"""
