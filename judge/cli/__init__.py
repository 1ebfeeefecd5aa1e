"""The ``judge`` command: ``main`` finds a command by its name, each command has a module of that name.

``options`` holds the options that load a judge, for all commands that take a model. ``eval``, ``report``,
``data`` and their like live with what they command.
"""
