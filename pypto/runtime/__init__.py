"""Compiling, launching and measuring: what ties the compiler to the emulated device."""
