"""How good a reviewer is: a frozen corpus of conversations, the rules it is scored by, and the scoring."""
