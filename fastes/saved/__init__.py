"""Loading and describing fastes files of any kind."""
