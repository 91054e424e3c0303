"""Reward laws: how a reward is drawn, given the value of an arm."""
