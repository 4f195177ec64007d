"""From files to models and back: training, changing, answering, with where each model comes from kept beside it."""
