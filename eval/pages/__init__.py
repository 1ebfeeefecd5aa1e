"""``judge report``: results as Markdown, as one HTML page that needs nothing else, and for a model card.

``runs`` reads result folders; ``standings`` sets each judge against the rules that it has to beat;
``slices`` and ``pairs`` look for where judges fail and how two of them differ; ``parts`` and ``tables`` make
the tables that ``markdown`` and ``html`` both show; ``payload`` packs the samples that the page lets people
look through; ``card`` writes a model card's front matter. ``assets`` holds the page's own files.
"""
