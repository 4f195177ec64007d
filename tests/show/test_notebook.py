"""In a real kernel: pictures appear, each once, and models, schemas and tallies are tables."""

from __future__ import annotations

import os
from typing import Any

import pytest

FIRST = """
import warnings; warnings.simplefilter("ignore")
import ingenuo as ing
from ingenuo.datasets import diabetes, play_tennis
from ingenuo.evaluation.cross_validation import cross_validate
rows = diabetes()
model = ing.NaiveBayes(tune=True).fit(rows.slice(0, 300), "progression")
days = ing.NaiveBayes().fit(play_tennis(), "Play")
test = rows.slice(300)
judged = ing.evaluate(model, test, "progression")
"""
# A line of Python, and how many pictures it shows.
PICTURES = {
    "model.plot('bmi')": 1,
    "days.plot('Outlook')": 1,
    "judged.plot()": 1,
    "ing.reliability(judged).plot()": 1,
    "ing.EvaluationDisplay.from_estimator(model, test, 'progression')": 1,
    "ing.ReliabilityDisplay.from_estimator(model, test, 'progression')": 1,
    "ing.compare([ing.GaussianNB(), ing.GaussianDiscriminant()], rows.select(['bmi', 's5', 'progression']), "
    "'progression', folds=3).plot()": 1,
    "ing.Hypotheses({'fair': .5, 'biased': .5}, {'fair': {'H': .5, 'T': .5}, "
    "'biased': {'H': .6, 'T': .4}}).update(['H', 'T']).plot()": 1,
    "from ingenuo.report.page import report; page = report(model, test, 'progression')": 0,
    "from matplotlib import pyplot; axes = pyplot.figure().subplots(); drawn = model.plot('s5', ax=axes)": 1,
}
TABLES = {
    "model": "Learned from 300 rows: 2 classes, 10 columns.",
    "model.schema_": "<th style='text-align:left'>family</th>",
    "model.tally_": "<td style='text-align:left'>class</td>",
    "model.tuning_": "log loss alone",
    "days.explain({'Outlook': 'Sunny'})": "÷ their sum",
    "days.explain(play_tennis())": "<p>… and 4 more rows</p>",
    "ing.BayesOptimalClassifier([('a', ing.GaussianNB())]).fit([[1.0], [2.0]] * 10, [0, 1] * 10)": "log-likelihood",
}


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed, so no kernel can be driven")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed, so there is no kernel")
    import nbformat

    lines = [FIRST, *PICTURES, *TABLES]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(line) for line in lines])
    folder = tmp_path_factory.mktemp("notebook")
    names = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    client = nbclient.NotebookClient(book, timeout=300, kernel_name="python3")
    client.execute(cwd=str(folder), env=names)
    return {line: cell.outputs for line, cell in zip(lines, book.cells)}


@pytest.mark.parametrize("line", PICTURES)
def test_every_picture_appears_once(cells: dict[str, list[Any]], line: str) -> None:
    shown = [output for output in cells[line] if "image/png" in output.get("data", {})]
    assert len(shown) == PICTURES[line]


@pytest.mark.parametrize("line", TABLES)
def test_what_was_learned_is_a_table(cells: dict[str, list[Any]], line: str) -> None:
    (output,) = cells[line]
    assert TABLES[line] in output["data"]["text/html"]
    assert output["data"]["text/plain"]
