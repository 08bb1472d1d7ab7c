"""The verbs, one file each: read, work, re-check, write."""
