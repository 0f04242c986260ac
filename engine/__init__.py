"""What a sequence of observations means: state, verdicts, incidents. Pure."""
