"""Tables, arithmetic and plots as text, HTML and Markdown. Nothing here knows a model."""
