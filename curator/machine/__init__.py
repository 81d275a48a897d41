"""The states and their arrows, declared once. Nothing else holds a state's name in an `if`."""
