"""A model that MLflow saved and serves answers as the model itself, and nothing of it is a pickle."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.exceptions import NotFittedError
from tests.cli.people import people

import ingenuo as ing
from ingenuo.cli import main
from ingenuo.errors import InputError, KindError

mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
pytest.importorskip("mlflow.pyfunc")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())


def saved(model: Any, folder: str = "folder", **more: Any) -> Any:
    import mlflow.pyfunc

    import ingenuo.mlflow

    ingenuo.mlflow.save_model(model, folder, **more)
    return mlflow.pyfunc.load_model(folder)


@pytest.fixture(scope="module")
def model() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ing.NaiveBayes(calibration="temperature").fit(people(), "outcome")


def test_a_saved_model_answers_as_it_did(model: Any) -> None:
    rows = people(seed=1).drop(columns=["outcome", "key"])
    served = saved(model)
    assert served.predict(rows).tolist() == model.predict(rows).tolist()
    shares = served.predict(rows, params={"method": "predict_proba"})
    assert shares.columns.tolist() == ["ill", "well"]
    np.testing.assert_array_equal(shares.to_numpy(), model.predict_proba(rows))


def test_columns_may_be_left_out_and_values_missing(model: Any) -> None:
    served = saved(model)
    rows = pd.DataFrame({"age": [50.5, None], "town": [None, "Oslo"]})
    whole = rows.assign(smoker=None, said=None)
    assert served.predict(rows).tolist() == model.predict(whole).tolist()


def test_the_signature_says_what_the_columns_are(model: Any) -> None:
    served = saved(model)
    columns = {each.name: (str(each.type), each.required) for each in served.metadata.signature.inputs}
    assert columns == {
        "age": ("DataType.double", False),
        **dict.fromkeys(["town", "smoker", "said"], ("DataType.string", False)),
    }
    assert [str(each.type) for each in served.metadata.signature.outputs] == ["DataType.string"]
    with pytest.raises(mlflow.exceptions.MlflowException, match="Can not safely convert"):
        served.predict(pd.DataFrame({"age": ["tall"]}))
    with pytest.raises(InputError, match="method='predict_prob' is not known; did you mean 'predict_proba'"):
        served.predict(pd.DataFrame({"age": [1.0]}), params={"method": "predict_prob"})


def test_the_folder_holds_the_model_file_and_no_pickle(model: Any) -> None:
    import ingenuo.mlflow

    saved(model, metadata={"team": "ward 3"})
    files = sorted(path.relative_to("folder").as_posix() for path in Path("folder").rglob("*") if path.is_file())
    assert files == ["MLmodel", "conda.yaml", "data/model.ingenuo", "python_env.yaml", "requirements.txt"]
    assert f"ingenuo=={ing.__version__}" in Path("folder/requirements.txt").read_text().splitlines()
    described = Path("folder/MLmodel").read_text()
    assert "loader_module: ingenuo.mlflow" in described
    assert "cloudpickle" not in described
    assert "team: ward 3" in described
    assert ingenuo.mlflow.load_model("folder").tally_ == model.tally_ == ing.load("folder/data/model.ingenuo").tally_


def test_a_logged_model_is_found_by_its_run(model: Any) -> None:
    import mlflow.pyfunc

    import ingenuo.mlflow

    with mlflow.start_run():
        info = ingenuo.mlflow.log_model(model, "ward", metadata={"team": "ward 3"})
    rows = people(seed=2).drop(columns=["outcome", "key"])
    assert mlflow.pyfunc.load_model(info.model_uri).predict(rows).tolist() == model.predict(rows).tolist()
    assert ingenuo.mlflow.load_model(info.model_uri).tally_ == model.tally_
    assert set(info.flavors) == {"ingenuo", "python_function"}


def test_texts_arrays_counts_and_numbers_are_served() -> None:
    texts, labels = ["good fine film", "dull bad film", "fine", "bad"] * 5, [1, 0, 1, 0] * 5
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2 == 0
    counts = pd.DataFrame(rng.poisson(1, (40, 3)), columns=list("abc"))
    mixed = [["a", 1.5], ["b", 2.5], ["a", 1.0], ["b", 3.0]] * 5
    codes = pd.DataFrame({"code": [1, 2, 3, 1] * 5, "on": [True, False, False, True] * 5})
    cases = [
        (ing.NaiveBayes().fit(texts, labels), pd.DataFrame({"text": texts}), texts),
        (ing.LanguageModelClassifier().fit(texts, labels), pd.DataFrame({"text": texts}), texts),
        (ing.GaussianNB().fit(X, y), X, X),
        (ing.NaiveBayes(dict.fromkeys("abc", "multinomial")).fit(counts, y), counts, counts),
        (ing.NaiveBayes().fit(mixed, [1, 0, 1, 0] * 5), pd.DataFrame(mixed), np.array(mixed, object)),
        (ing.NaiveBayes({"code": "category"}).fit(codes, labels), codes, codes),
        (ing.NaiveBayesRegressor().fit(X, X[:, 0] * 2), X, X),
    ]
    for place, (model, given, rows) in enumerate(cases):
        served = saved(model, f"folder{place}")
        np.testing.assert_array_equal(served.predict(given), model.predict(rows))


def test_what_cannot_be_saved_is_refused(model: Any) -> None:
    import ingenuo.mlflow

    with pytest.raises(KindError, match="a LanguageModel answers no rows, so MLflow cannot serve it"):
        saved(ing.LanguageModel().fit(["a b"]))
    with pytest.raises(NotFittedError, match="not fitted yet"):
        saved(ing.NaiveBayes())
    saved(model)
    with pytest.raises(InputError, match="folder is there already; name a folder that is not, or remove it"):
        saved(model)
    mlflow.models.Model(flavors={"other": {}}).save("folder/MLmodel")
    with pytest.raises(InputError, match=r"holds a model of other, and none of ingenuo"):
        ingenuo.mlflow.load_model("folder")


def test_mlflow_that_is_absent_is_named(model: Any) -> None:
    script = (
        "import sys; sys.modules['mlflow'] = None\n"
        "import ingenuo as ing, ingenuo.mlflow\n"
        "model = ing.NaiveBayes().fit([[1.0], [2.0]], [0, 1])\n"
        "try: ingenuo.mlflow.save_model(model, 'folder')\n"
        "except ing.errors.InputError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "MLflow is not installed; pip install 'ingenuo[mlflow]'\n"


def test_the_command_writes_the_folder(model: Any) -> None:
    import mlflow.pyfunc

    ing.save(model, "m.ingenuo")
    result = CliRunner().invoke(main, ["export", "m.ingenuo", "-o", "served", "--to", "mlflow"])
    assert result.exit_code == 0, result.output
    rows = people(seed=3).drop(columns=["outcome", "key"])
    assert mlflow.pyfunc.load_model("served").predict(rows).tolist() == model.predict(rows).tolist()
    assert json.loads(json.dumps(Path("served/MLmodel").read_text()))
