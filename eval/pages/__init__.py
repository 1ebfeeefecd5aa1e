"""``judge report``: results as Markdown, as one self-contained HTML page, and for a model card.

``runs`` reads result folders; ``standings`` compares each judge with the best baseline; ``slices`` and
``pairs`` show where judges fail and how two of them differ; ``several`` and ``tables`` make the tables that
``markdown``, ``html`` and ``terminal`` show; ``payload`` packs the samples that the page lets people browse;
``card`` writes a model card's front matter. ``assets`` holds the page's own files.
"""
