"""``python -m benchmarks SUITE``: run a suite and print its ratios."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterator, Sequence

from benchmarks import report
from benchmarks.cases import Case, run

# Each is a module of this package with a function `cases` and the number of ROWS its bars are meant for.
SUITES = {
    "cli": "the command line: the rates at which files become models and answers, over reading alone",
    "engines": "one training here, on Dask and on Spark, against Spark MLlib and dask-ml",
    "linear": "discriminants, softmax regression, densities, against scikit-learn, fastText and published accuracies",
    "networks": "Bayesian networks: search, inference, classification, against pyAgrum and pgmpy",
    "start": "what a new process pays: imports, the first call, commands on small files, against scikit-learn",
    "tables": "the naive Bayes of tables: numbers, categories and counts, against scikit-learn",
    "text": "naive Bayes and language models of text, against scikit-learn, fastText, NLTK and published accuracies",
    "trust": "cross-validation, tuning and calibration: what they cost, and how right they are",
}


def choose(suite: str, only: Sequence[str]) -> list[Case]:
    """The cases of a suite whose names contain one of the given texts; all where none is given."""
    cases: list[Case] = importlib.import_module(f"benchmarks.{suite}").cases()
    return [c for c in cases if not only or any(text.lower() in c.name.lower() for text in only)]


def rows_of(suite: str) -> int:
    """The rows that the bars of a suite are meant for."""
    rows: int = importlib.import_module(f"benchmarks.{suite}").ROWS
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; the status is 1 where an answer is wrong, whatever the speed."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] in (["all"], ["fuzz"], ["page"], ["quality"], ["serve"]):  # which have options of their own
        return int(importlib.import_module(f"benchmarks.{arguments[0]}").main(arguments[1:]))
    about = (
        "Speed against the peers, as ratios. `all` runs every suite and writes the page of them, `quality` judges the "
        "answers of all models over public tables and texts "
        "(`quality --help`), `page` times the page and the exports, `serve` the server beside its peers, and "
        "`fuzz --minutes N` forges model files."
    )
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=about)
    parser.add_argument("suite", choices=SUITES, help="; ".join(f"{name}: {what}" for name, what in SUITES.items()))
    parser.add_argument(
        "--rows", type=int, help="rows of the tables, or documents (default: what the bars are meant for)"
    )
    parser.add_argument("--repeat", type=int, default=5, help="warm calls, of which the best counts (default: 5)")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only cases with NAME in them")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and stop")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--each", action="store_true", help="print a line of JSON for each case at once; go on where one fails"
    )
    given = parser.parse_args(arguments)
    meant = rows_of(given.suite)
    rows = meant if given.rows is None else given.rows
    if rows < 1000 or given.repeat < 1:
        parser.error("--rows must be at least 1000, and --repeat at least 1")
    cases = choose(given.suite, given.only)
    if not cases:
        parser.error(f"no case has {' or '.join(map(repr, given.only))} in its name; --list shows them all")
    if given.list:
        print("\n".join(case.name for case in cases))
        return 0
    found: list[report.Result | report.Skipped] = []

    def kept() -> Iterator[report.Result | report.Skipped]:
        for result in run(cases, rows, given.repeat):
            found.append(result)
            yield result

    if given.each:
        for case in cases:
            try:
                (result,) = run([case], rows, given.repeat)
            except Exception as error:  # of one case, or of a peer: the others have nothing to do with it
                result = report.Skipped(case.name, f"{type(error).__name__}: {str(error).strip()[-200:]}")
            found.append(result)
            print(json.dumps(result.as_dict()), flush=True)
    elif given.json:
        print(report.to_json(kept()))
    else:
        if rows != meant:
            print(f"The bars are meant for {meant:,} rows; these are {rows:,}.")
        for line in report.lines(kept()):
            print(line, flush=True)
    return int(any(result.agrees is False for result in found))


if __name__ == "__main__":
    sys.exit(main())
