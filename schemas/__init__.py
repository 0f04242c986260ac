"""What travels on a topic, and the parsers that read what producers really send."""
