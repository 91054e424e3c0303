"""Reading and writing files: atomic writes, checked reads."""
