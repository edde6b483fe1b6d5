"""The options of the commands: dataclasses, their parser, option files and presets."""
