"""How text becomes words: the settings, stop words, negations, stems and affect lexicons.

Pure Python: the loops that read the text are among the kernels, and take what they need from `Words`.
"""

from __future__ import annotations

from ingenuo.text.lexicons import Lexicon
from ingenuo.text.words import Words

__all__ = ["Lexicon", "Words"]
