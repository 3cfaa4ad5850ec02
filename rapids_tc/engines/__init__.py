"""Engines: where an oriented graph is counted."""
