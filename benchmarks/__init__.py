"""Speed, memory and agreement against the peers, as ratios in one run: ``python -m benchmarks tables``, ``text``."""
