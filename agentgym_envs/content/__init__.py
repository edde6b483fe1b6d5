"""Content that is shipped, drawn, written and cached."""
