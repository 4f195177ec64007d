"""Linear models of any table: its columns as features, and from those to the weights."""
