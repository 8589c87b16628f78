"""Passes of the tensor level: from operators to kernels that still speak of whole tensors."""
