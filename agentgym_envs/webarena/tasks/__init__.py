"""The embedded tasks: templates, their instances, and an expert for each."""
