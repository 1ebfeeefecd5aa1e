"""Who makes wrong answers, and who judges answers without knowing the label: rules and chat models.

``rules_checks`` finds by rule what is wrong, ``rules_judge`` says so, ``reasoning`` writes what it quotes;
``prompts`` is what chat models are asked, ``pool`` the models of a recipe.
"""
