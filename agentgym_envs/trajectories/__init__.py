"""Episodes as records, and the files that hold them."""
