"""Makes the content of the embedded sites: four databases, and the tasks on them."""
