"""What the IR says: the dialects, the Emitter that makes operations, the laws of each level."""
