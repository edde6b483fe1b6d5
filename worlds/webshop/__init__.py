"""Makes WebShop's catalogue and the instructions of its shoppers."""
