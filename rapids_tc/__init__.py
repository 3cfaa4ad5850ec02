"""Exact triangle analytics for dataframes."""
