"""What a step asks of an agent, and the agents, one a file."""
