"""From a state to a verdict with reasons."""
