"""Commands around dense retrieval: building an index, serving it, measuring its recall."""
