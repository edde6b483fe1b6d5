"""What fills the code host: word lists and generators by subject."""
