"""How large must an ensemble be? The study of docs/explanation/ensemble-size.md."""
