"""What is handed on about a model: the HTML report, and the model card."""
