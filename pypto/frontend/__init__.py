"""The Python frontend: from the syntax tree of a function to the tensor level, never by tracing."""
