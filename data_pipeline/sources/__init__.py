"""Sources of samples: the bundled corpus, the user's files, the Hub, and public sets in their original files.

``readers`` lists the public sets; ``own`` reads files and Hub sets that a recipe names, in one of the
``forms``; ``config`` has the keys of a source; ``reading`` streams the samples."""
