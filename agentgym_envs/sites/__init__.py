"""The embedded web sites: five sites and a home page, served from one episode's databases."""
