"""What commands do between reading their options and printing."""
