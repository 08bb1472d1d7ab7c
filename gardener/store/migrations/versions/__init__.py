"""One file a change, in the order of their numbers. A file that was released is never altered."""
