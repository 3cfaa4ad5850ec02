"""Engines: where an oriented graph is counted. One protocol, the CPU and CUDA."""
