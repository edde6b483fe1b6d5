"""Larder & Loom administration: the back office of the shop, on the shop's own database."""
