"""Wayfinder: the map of Valdera, with its places and the ways between them."""
