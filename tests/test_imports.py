"""What a new process imports: large packages only where they are needed, for their import takes longer than the work.

scikit-learn takes more than a second to import, pandas, SciPy and matplotlib some tenths each.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LARGE = {"numpy", "scipy", "sklearn", "pandas", "polars", "matplotlib", "pyarrow", "narwhals", "joblib", "yaml"}

NUMBERS = """
import numpy as np
rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 3)), np.array(["a", "b"])[rng.integers(0, 2, 60)]
"""
CATEGORIES = """
import numpy as np
rng = np.random.default_rng(0)
X, y = np.array(["red", "green", "blue"], object)[rng.integers(0, 3, (60, 3))], ["yes", "no"] * 30
"""
TEXTS = """
X = ["a fine film", "fine music and a fine cast", "a dull film", "dull, dull, dull"] * 10
y = ["good", "good", "bad", "bad"] * 10
"""


def run(program: str, *arguments: object) -> set[str]:
    """The large packages that a program has imported at its end."""
    shown = f"import sys\nprint('LOADED', *({LARGE!r} & sys.modules.keys()))"
    call = [sys.executable, "-c", f"{program}\n{shown}", *map(str, arguments)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split()[1:])


def command(*arguments: object, status: int = 0) -> set[str]:
    """The large packages that a command has imported at its end, with this status."""
    program = f"""
from ingenuo.cli import main
try:
    main()
except SystemExit as end:
    assert (end.code or 0) == {status}, end.code
"""
    return run(program, *arguments)


def asked(data: str, model: str) -> set[str]:
    """The large packages that the first fit and the first answer of a model import."""
    used = f"model = ing.{model}.fit(X, y)\nmodel.predict_proba(X), model.predict(X)"
    return run(f"{data}\nimport ingenuo as ing\n{used}")


def test_the_package_alone_imports_nothing_large() -> None:
    assert run("import ingenuo") == set()


@pytest.mark.parametrize(
    "model",
    [
        "NaiveBayes()",
        "NaiveBayes(numbers='histogram')",
        "NaiveBayes(numbers='kernel')",
        "GaussianNB()",
        "NetworkClassifier()",
        "NetworkClassifier('aode')",
    ],
)
def test_models_of_numbers_need_numpy_alone(model: str) -> None:
    assert asked(NUMBERS, model) == {"numpy"}


@pytest.mark.parametrize("model", ["NaiveBayes()", "CategoricalNB()", "NetworkClassifier('tan')"])
def test_models_of_categories_need_numpy_alone(model: str) -> None:
    assert asked(CATEGORIES, model) == {"numpy"}


@pytest.mark.parametrize("model", ["NaiveBayes()", "NaiveBayes(counts='bernoulli')", "LanguageModelClassifier()"])
def test_models_of_texts_need_numpy_alone(model: str) -> None:
    assert asked(TEXTS, model) == {"numpy"}


@pytest.mark.parametrize("model", ["GaussianDiscriminant()", "SoftmaxRegression()", "LeastSquaresClassifier()"])
def test_models_that_solve_equations_need_scipy_besides(model: str) -> None:
    assert asked(NUMBERS, model) <= {"numpy", "scipy"}


def test_tuning_needs_numpy_and_calibration_scipy_besides() -> None:
    assert asked(NUMBERS, "NaiveBayes(tune=True)") == {"numpy"}
    assert asked(NUMBERS, "NaiveBayes(tune=True, calibration='auto')") == {"numpy", "scipy"}


def test_sums_change_and_models_are_kept_without_more(tmp_path: Path) -> None:
    program = f"""{NUMBERS}
import ingenuo as ing
model = ing.NaiveBayes().fit(X[:40], y[:40]).partial_fit(X[40:], y[40:]).forget(X[:10], y[:10])
(model + ing.NaiveBayes().fit(X, y)).explain(X[0])
repr(model.set_params(prior=ing.Lidstone(0.5)))
ing.save(model, {str(tmp_path / "model.ingenuo")!r})
ing.load({str(tmp_path / "model.ingenuo")!r}).predict(X)
"""
    assert run(program) == {"numpy"}


def test_a_pandas_frame_needs_what_reads_it() -> None:
    program = f"""{NUMBERS}
import pandas as pd, ingenuo as ing
frame = pd.DataFrame(X, columns=["one", "two", "three"]).assign(label=y)
ing.NaiveBayes().fit(frame, "label").predict_proba(frame)
"""
    assert not run(program) & {"sklearn", "scipy", "matplotlib", "polars"}


@pytest.mark.parametrize("arguments", [("--help",), ("train", "--help"), ("--version",)])
def test_help_imports_nothing_large(arguments: tuple[str, ...]) -> None:
    assert command(*arguments) == set()


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("trian",), 2),
        (("train", "x.csv", "--tgt", "y"), 2),
        (("train", "x.csv", "y.csv", "--target", "y"), 2),
        (("train", "no such file.csv", "--target", "y", "-o", "model.ingenuo"), 1),
        (("predict", "model.ingenuo"), 2),
        (("predict", "no such file.ingenuo", "x.csv"), 1),
        (("evaluate", "no such file.ingenuo", "x.csv"), 1),
        (("explain", "model.ingenuo"), 2),
        (("compare", "x.csv", "--model", "naive-bayes"), 2),
        (("merge", "model.ingenuo", "-o", "both.ingenuo"), 2),
    ],
)
def test_a_wrong_use_of_a_command_imports_nothing_large(arguments: tuple[str, ...], status: int) -> None:
    assert command(*arguments, status=status) == set()


def test_files_are_learned_and_answered_with_arrow(tmp_path: Path) -> None:
    table, model, answers = tmp_path / "table.csv", tmp_path / "model.ingenuo", tmp_path / "answers.csv"
    rows = [f"{i % 7}.5,{'red' if i % 3 else 'blue'},{'yes' if i % 2 else 'no'}" for i in range(60)]
    table.write_text("\n".join(["size,colour,paid", *rows, ""]))
    needed = {"numpy", "pyarrow"}
    assert command("train", table, "--target", "paid", "-o", model) == needed
    assert command("predict", model, table, "-o", answers) == needed
    assert command("train", table, "--target", "paid", "--model", "naive-bayes", "-o", model) == needed
    assert command("predict", model, table, "-o", answers) == needed
    assert command("explain", model, table) == needed
    assert command("inspect", model) <= needed
    assert command("update", model, table) == needed
    assert len(answers.read_text().splitlines()) == 61
