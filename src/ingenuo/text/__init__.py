"""How text becomes words: the settings, stop words, negations, stems and affect lexicons."""
