"""The ``judge`` command: ``main`` finds a command by its name, and most commands have a module of that name.

``options`` has the options that load a judge, for all commands that take a model. ``eval``, ``report``,
``data`` and the like are in the packages that they belong to.
"""
