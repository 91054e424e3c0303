"""Let ``python -m fastes`` be the command ``fastes``."""

from fastes.cli import main

if __name__ == "__main__":
    main(prog_name="fastes")
