"""Values -> what a template prints: pure functions."""
