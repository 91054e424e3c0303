"""How many models does logistic ensemble sampling need? A study of docs/explanation."""
