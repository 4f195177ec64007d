"""The HTML report and the model card."""
