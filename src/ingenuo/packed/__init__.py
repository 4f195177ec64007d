"""What is learned as plain values and tensors, for a file or for a way to another machine."""
