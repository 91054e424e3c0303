"""Files of fastes of any kind: opened, and described."""
