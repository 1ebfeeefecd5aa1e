"""Teachers make wrong answers and judge answers without knowing the label: rules and chat models.

``rules_checks`` finds errors by rule, ``rules`` turns them into judgements, ``reasoning`` writes
reasonings for known labels; ``prompts`` holds the prompts to chat models, ``pool`` the models of a recipe.
"""
