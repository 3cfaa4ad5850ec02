"""The CUDA engine: the kernels of this package, launched through CuPy."""
