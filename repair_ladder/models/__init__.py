"""Doors to model providers: each module makes an Ask, and nothing of its provider's SDK leaves it."""
