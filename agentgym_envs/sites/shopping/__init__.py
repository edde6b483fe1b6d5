"""The shop "Larder & Loom": catalogue, reviews, cart, checkout and accounts."""
