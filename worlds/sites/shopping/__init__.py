"""Makes the shop: products, customers, orders and reviews."""
