"""Graphs in blocks: the tasks of a cluster, and of one machine that holds a part at a time."""
