"""The quantities that the paper defines, and its bounds, beside what is measured."""
