"""``judge data build``: ``pipeline`` runs the stages of a build; the other modules are its parts."""
