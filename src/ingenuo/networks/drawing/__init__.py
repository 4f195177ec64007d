"""Pictures of networks: where boxes stand and arcs run, painted as SVG, by matplotlib, or on a page."""
