"""What a new process pays before it has done anything large: imports, and the first call on a small table.

Seconds are those of the processor, in user and system mode together, of the whole process; best of several, in turns.
The peer is scikit-learn doing the same, or, where it has no such thing, its Gaussian naive Bayes on the same numbers;
of commands, a program with pandas and scikit-learn, or the interpreter that does nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from benchmarks.cases import Case, NewProcess
from benchmarks.processes import command, place
from benchmarks.report import Bar

ROWS = 1000  # the tables are of one size, whatever is asked for

_NUMBERS = """
import numpy as np
rng = np.random.default_rng(0)
X, y = rng.normal(size=(150, 4)), np.array(["a", "b", "c"])[rng.integers(0, 3, 150)]
"""
_FRAME = f"""{_NUMBERS}
import pandas as pd
X = pd.DataFrame(X, columns=["one", "two", "three", "four"])
"""
_CATEGORIES = """
import numpy as np
rng = np.random.default_rng(0)
X, y = np.array(["red", "green", "blue"], object)[rng.integers(0, 3, (150, 4))], rng.integers(0, 2, 150)
"""
_TEXTS = """
X = ["a fine film", "fine music and a fine cast", "a dull film", "dull, dull, dull"] * 25
y = ["good", "good", "bad", "bad"] * 25
"""
_GAUSSIAN = "from sklearn.naive_bayes import GaussianNB\nGaussianNB().fit(X, y).predict_proba(X)"
_BAYES = "from ingenuo import NaiveBayes\nNaiveBayes().fit(X, y).predict_proba(X)"
_NETWORK = "from ingenuo import NetworkClassifier\nNetworkClassifier().fit(X, y).predict_proba(X)"
_TUNED = "from ingenuo import NaiveBayes\nNaiveBayes(tune=True, calibration='auto').fit(X, y).predict_proba(X)"
_CODED = """
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
make_pipeline(OrdinalEncoder(), CategoricalNB()).fit(X, y).predict_proba(X)
"""
_COUNTED = """
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
make_pipeline(CountVectorizer(), MultinomialNB()).fit(X, y).predict_proba(X)
"""

# Each first call with its data, the peer's program, ours, and how many times scikit-learn's seconds it may take.
_FIRST = {
    "numbers of an array": (_NUMBERS, _GAUSSIAN, _BAYES, 1.3),
    "numbers of a pandas frame": (_FRAME, _GAUSSIAN, _BAYES, 1.3),
    "GaussianNB": (_NUMBERS, _GAUSSIAN, _GAUSSIAN.replace("sklearn.naive_bayes", "ingenuo"), 1.3),
    "categories": (_CATEGORIES, _CODED, _BAYES, 1.3),
    "texts": (_TEXTS, _COUNTED, _BAYES, 1.3),
    "a network": (_NUMBERS, _GAUSSIAN, _NETWORK, 1.3),
    "tuned and calibrated": (_NUMBERS, _GAUSSIAN, _TUNED, 1.6),
}


def python(program: str) -> list[str]:
    """A program of a few lines."""
    return [sys.executable, "-c", program]


def ingenuo(*arguments: object) -> list[str]:
    """The command with these arguments."""
    return [*command(), *map(str, arguments)]


def _in_python() -> Iterator[Case]:
    yield NewProcess("import", Bar(limit=0.25), python("import sklearn.naive_bayes"), python("import ingenuo"))
    for name, (data, peer, ours, most) in _FIRST.items():
        yield NewProcess(f"first fit and answer: {name}", Bar(1 / most), python(data + peer), python(data + ours))


def _as_commands() -> Iterator[Case]:
    table, model, asked = place("start.csv"), place("start.ingenuo"), place("answers.csv")
    rng = np.random.default_rng(0)
    rows = zip(
        rng.normal(size=200), np.array(["red", "green", "blue"])[rng.integers(0, 3, 200)], rng.integers(0, 2, 200)
    )
    table.write_text("size,colour,paid\n" + "".join(f"{size:.3f},{colour},{paid}\n" for size, colour, paid in rows))
    nothing = python("pass")
    by_hand = python(
        "import pandas as pd\nfrom sklearn.naive_bayes import GaussianNB\n"
        f"table = pd.read_csv({str(table)!r})\nX = pd.get_dummies(table[['size', 'colour']])\n"
        f"answers = GaussianNB().fit(X, table['paid']).predict(X)\n"
        f"table.assign(predicted=answers).to_csv({str(place('by hand.csv'))!r})"
    )
    yield NewProcess("ingenuo --help", Bar(limit=0.12), nothing, ingenuo("--help"))
    wrong = {
        "an unknown option": (2, ("train", table, "--target", "paid", "--tgt")),
        "a missing argument": (2, ("predict", model)),
        "a missing file": (1, ("train", place("none.csv"), "--target", "paid", "-o", model)),
    }
    for name, (status, arguments) in wrong.items():
        yield NewProcess(f"ingenuo, {name}", Bar(limit=0.3), nothing, ingenuo(*arguments), status)
    train = ingenuo("train", table, "--target", "paid", "-o", model)
    yield NewProcess("ingenuo train, 200 rows", Bar(limit=1.0), by_hand, train)
    predict = ingenuo("predict", model, table, "-o", asked)
    yield NewProcess("ingenuo predict, 200 rows", Bar(limit=1.0), by_hand, predict, before=train)


def cases() -> list[Case]:
    """Every case of this suite."""
    return [*_in_python(), *_as_commands()]
