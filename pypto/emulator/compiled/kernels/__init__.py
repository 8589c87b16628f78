"""What instructions do to memory, by family."""
