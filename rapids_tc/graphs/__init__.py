"""Prepared graphs: in memory, out of core, distributed."""
