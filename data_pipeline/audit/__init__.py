"""The audit of a data set: what is in it, and whether a trivial rule could learn its labels.

``run`` audits a build, samples or a folder: ``tables`` counts, ``cells`` draws samples of each source and
kind, ``shortcuts`` and ``coherence`` try to guess their labels, ``figures`` measures how well. ``limits``
has the thresholds, ``gate`` stops a build, ``page`` writes the report.
"""
