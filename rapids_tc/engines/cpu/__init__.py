"""The CPU engine, compiled with Numba."""
