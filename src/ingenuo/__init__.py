"""Classification by Bayes' rule, for tables and text."""
