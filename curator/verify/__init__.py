"""A second opinion: whether what lies under an agent folder can be true, by code of its own, changing nothing."""
