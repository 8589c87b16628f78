"""The command line, ``pyptoc``: one file per command, imported when it is called."""
