"""How the facts of the world are told: sentence patterns by kind, and the writer of documents."""
