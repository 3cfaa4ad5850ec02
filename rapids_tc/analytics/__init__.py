"""The public functions, one topic per file."""
