"""Who answers observations: a model, a server's model, the expert, chance or a function."""
