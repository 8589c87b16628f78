"""What numba compiles: the event engine and the kernels. Nothing else imports numba."""
