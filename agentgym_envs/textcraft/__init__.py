"""TextCraft (game): crafting with Minecraft recipes."""
