"""Tables from files: delimited text, Parquet, Arrow, JSON lines, ARFF, lines with labels, folders of texts."""
