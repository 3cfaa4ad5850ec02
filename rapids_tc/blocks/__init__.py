"""A graph cut in blocks, and the tasks that work on them."""
