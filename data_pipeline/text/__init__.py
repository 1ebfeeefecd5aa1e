"""What all rules read texts with: word lists, the values of numbers, content words, English clauses."""
