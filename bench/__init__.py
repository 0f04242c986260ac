"""Benchmarks: how fast recorded input is read, against plain matching of the same phrases."""
