"""How far pbar_t, the law of the action given the history, is from that of the best arm."""
