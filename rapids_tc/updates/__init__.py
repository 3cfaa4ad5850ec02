"""Updates of a graph: what is inserted and deleted, and what is different afterwards."""
