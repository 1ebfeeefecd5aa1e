"""Rule-based edits that make a faithful answer wrong by changing one fact, without a model.

``types`` lists the edits, one module each (``swap_date``, ``swap_name``, ``swap_number``, ``polarity``,
``comparatives``; ``_zh`` for Chinese). ``perturber`` chooses one, ``edit`` holds the shared code, ``verify``
checks the edits of chat models.
"""
