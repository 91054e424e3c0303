"""Beliefs about z, and what the rules of agents may ask of them."""
