"""CUDA kernels: the catalogue of methods, their sources and the compiler."""
