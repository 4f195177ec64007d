"""The structure of a network from data: searches by score, trees by mutual information."""
