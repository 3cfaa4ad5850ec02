"""The engines, which count an oriented graph: on the CPU, or by CUDA on a GPU."""
