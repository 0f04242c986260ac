"""What a batch of records says: catalogs, automaton, entries, redaction, injected text."""
