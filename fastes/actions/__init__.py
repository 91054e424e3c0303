"""Action sets: which arms a problem offers."""
