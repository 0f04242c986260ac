"""The `causestream` command, one file per verb."""
