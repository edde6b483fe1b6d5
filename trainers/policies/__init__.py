"""Policies: a model, a server's model, the expert, a random or fixed rule, or a function."""
