"""The only layer with I/O: files, topics, the command."""
