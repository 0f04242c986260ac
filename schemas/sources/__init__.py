"""One pure parser per producer family: foreign JSON and text to entries."""
