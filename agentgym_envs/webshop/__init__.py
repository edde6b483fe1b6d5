"""WebShop: buy the product that an instruction asks for in a shop of made-up products."""
