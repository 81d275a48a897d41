"""A copy of an agent folder that could be what a crash left, taken while everybody works; and bringing one back."""
