"""The working behind an answer: the arithmetic of one prediction, the summary of a model."""

# How tables look in a notebook, in its own colours.
STYLE = (
    ".ingenuo{display:inline-table;border-collapse:collapse;margin:0 2em 1em 0;vertical-align:top}"
    ".ingenuo th{text-align:left;border-bottom:1px solid currentColor}"
    ".ingenuo th,.ingenuo td{padding:.1em .8em .1em 0;text-align:left;white-space:nowrap}.ingenuo .n{text-align:right}"
    ".ingenuo em{white-space:normal}"
    ".ingenuo .rule td{border-top:1px solid currentColor}"
)
