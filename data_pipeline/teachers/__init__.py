"""Teachers: who makes wrong answers and who judges answers without being told the label."""
