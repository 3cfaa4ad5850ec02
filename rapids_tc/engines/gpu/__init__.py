"""The CUDA engine: CuPy and the kernels of this package."""
