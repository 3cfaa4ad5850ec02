"""What a call needs, decided before it runs."""
