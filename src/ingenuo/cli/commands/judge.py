"""`ingenuo evaluate`, `compare`, `drift` and `audit`: models judged by the rows of files."""

from __future__ import annotations

from typing import Any

import click

from ingenuo.cli import options
from ingenuo.cli.options import AUDITED, CONFIDENCE, FILES, JSON, MODEL, READING, SEED, TARGET, option


@options.command(
    "evaluate",
    MODEL,
    FILES,
    TARGET,
    option("--weight COLUMN", "The column that says how much each row counts."),
    option("--reliability", "Are the probabilities right? Also show what became of each bin."),
    option("--bins N", "How many bins the --reliability has; with other than ten all the rows are kept.", default=10),
    options.picture("--plot", "Draw the confusions and the curves, or the reliability"),
    CONFIDENCE,
    READING,
    SEED,
    JSON,
)
def evaluate(model: str, files: tuple[str, ...], target: str | None, **given: Any) -> None:
    """Judge MODEL by the rows of FILEs, which it should not have learned.

    \b
    ingenuo evaluate patients.ingenuo test.csv
    ingenuo evaluate patients.ingenuo test.csv --reliability --bins 5 --plot reliability.svg
    ingenuo evaluate patients.ingenuo test.csv --json | jq .accuracy
    """
    options.check_inputs(model, files=files, given=given)
    from ingenuo.cli.work.judge import open_judged
    from ingenuo.cli.work.train import measures
    from ingenuo.evaluation.evaluation import evaluate
    from ingenuo.evaluation.measures import BINS
    from ingenuo.evaluation.reliability import reliability

    weight, as_json = given["weight"], given["as_json"]
    judged = open_judged(model, files, target, given, weight)
    rows = judged.rows
    numbers = hasattr(judged.model, "predict_quantiles")
    if numbers and (given["reliability"] or given["plot"]):
        raise click.UsageError("--reliability and --plot are of classes; a regressor answers with numbers")
    if given["bins"] != BINS and not given["reliability"]:
        raise click.UsageError("--bins says how many bins the --reliability has; give that too")
    asked = {"confidence": given["confidence"], "random_state": given["seed"]}
    with options.watched(rows, "judging"):
        if given["bins"] == BINS:
            found = evaluate(judged.model, rows, rows.target, sample_weight=weight, **asked)
        else:
            found = judged.evaluate_here(weight, **asked)
    options.say(*filter(None, [rows.note]))
    shown = reliability(found, bins=given["bins"]) if given["reliability"] else None
    if given["plot"]:
        options.draw(found.plot().axes_ if shown is None else shown.plot(), given["plot"])
    if as_json:
        options.out_json(measures(found, list(found)) | ({} if shown is None else {"bins": shown.table().to_pylist()}))
    else:
        options.show(found)
        if shown is not None:
            options.out("")
            options.show(shown)


@options.command(
    "compare",
    FILES,
    TARGET,
    option(
        "--model NAME[:SETTING=VALUE,...]",
        "A model, as of `ingenuo train`, or a file that holds one, whose settings are taken; two at least.",
        "specs",
        multiple=True,
    ),
    option("--folds K", "How many folds, or leave-one-out  [10]"),
    option("--sizes N|ROWS,ROWS", "Learning curves, not folds: at so many sizes, or at these numbers of rows."),
    option("--repeats N", "How often --sizes draws rows  [10]", type=int),
    option("--measure accuracy|f1_macro|log_loss|ece", "Of the --plot.", default="accuracy"),
    options.picture("--plot", "Draw the measure of each model with its interval"),
    option("--times/--no-times", "Whether to show how long each took  [shown]", default=True),
    CONFIDENCE,
    option("--alpha", "The level of the tests.", type=float, default=0.05),
    READING,
    SEED,
    JSON,
)
def compare(files: tuple[str, ...], target: str | None, specs: tuple[str, ...], **given: Any) -> None:
    """Cross-validate several models on the rows of FILEs, the same folds for all, and test their differences.

    FILEs that end in .ingenuo are models: they are judged as they are by the rows of the other FILEs, which they should
    not have learned, and nothing is refitted.

    \b
    ingenuo compare iris.csv --target species --model naive-bayes --model discriminant --model softmax
    ingenuo compare mail.csv --target label --model naive-bayes --model softmax:l2=0.1,ngrams=2
    ingenuo compare adult.csv --target income --model network:structure=tan --model mine.ingenuo --plot tan.svg
    ingenuo compare old.ingenuo new.ingenuo test.csv
    ingenuo compare mail.csv --target label --model naive-bayes --model softmax --sizes 8 --plot curves.svg
    """
    fitted = [each for each in files if each.endswith(".ingenuo")]
    if fitted and (specs or given["sizes"] or given["folds"]):
        raise click.UsageError("models in FILEs are judged as they are; --model, --folds and --sizes let models learn")
    if given["folds"] and given["sizes"]:
        raise click.UsageError("--folds and --sizes are two ways to compare models; take one")
    if given["repeats"] is not None and not given["sizes"]:
        raise click.UsageError("--repeats says how often --sizes draws rows; give that too")
    sizes = _sizes(given["sizes"]) if given["sizes"] else None
    if len(fitted or specs) < 2:
        raise click.UsageError("give two models at least, each by its own --model, or as files that end in .ingenuo")
    if len(set(fitted)) < len(fitted) or len(fitted) == len(files):
        raise click.UsageError("give each model once, and beside the models a file with rows to judge them by")
    options.check_inputs(*fitted, files=[each for each in files if each not in fitted], given=given)
    from ingenuo.cli.work.judge import comparison_data, evaluate_fitted, rows_to_compare, several_models
    from ingenuo.evaluation.comparison import compare

    if fitted:
        with options.watched(None, "comparing"):
            evaluations = evaluate_fitted(fitted, [each for each in files if each not in fitted], target, given)
            found = compare(evaluations, alpha=given["alpha"], random_state=given["seed"])
        _show_comparison(found, found.text(times=given["times"]), comparison_data(found), given)
        return
    models, declared = several_models(specs, options.kinds(given))
    rows, named, notes = rows_to_compare(models, options.open_files(files, given, target, columns=declared), target)
    options.say(*notes)
    folds, seed = given["folds"] or "10", given["seed"]
    sure = {name: given[name] for name in ("confidence", "alpha")}
    with options.watched(None, "comparing"):
        if sizes is None:
            found = compare(models, rows, named, int(folds) if folds.isdecimal() else folds, random_state=seed, **sure)
        else:
            repeats = 10 if given["repeats"] is None else given["repeats"]
            curves = compare(models, rows, named, sizes=sizes, repeats=repeats, random_state=seed)
    if sizes is None:
        _show_comparison(found, found.text(times=given["times"]), comparison_data(found), given)
    else:
        data = {"curves": curves.table().to_pylist(), "test_rows": curves.test_rows}
        _show_comparison(curves, str(curves), data, given)


def _sizes(text: str) -> int | list[int]:
    """How many sizes, or numbers of rows with commas between them."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise click.BadParameter(f"{text!r} is neither a number nor numbers with commas between", param_hint="--sizes")
    return int(parts[0]) if len(parts) == 1 else [int(part) for part in parts]


def _show_comparison(found: Any, text: str, data: dict[str, Any], given: dict[str, Any]) -> None:
    """The picture, if one is asked for, and the text or the data."""
    if given["plot"]:
        options.draw(found.plot(given["measure"]), given["plot"])
    if given["as_json"]:
        options.out_json(data)
    else:
        options.out(text)


@options.command(
    "drift",
    MODEL,
    FILES,
    option("--reference FILE", "Rows to compare with  [those of training, as `train` counted them]", type=click.Path()),
    option("--level", "The probability that an item is called changed where none is.", type=float, default=0.01),
    options.picture("--plot", "Draw the evidence of both, and how much each item moved"),
    READING,
    JSON,
)
def drift(model: str, files: tuple[str, ...], reference: str | None, **given: Any) -> None:
    """Compare the rows of FILEs with those that MODEL learned: have they changed, and in which columns?

    Compared are the answers by class, the missing and the unseen values by column, and how likely the model thinks the
    rows, log p(x). The classes of the rows are not needed. Files are read a part at a time.

    \b
    ingenuo drift patients.ingenuo new.csv
    ingenuo drift patients.ingenuo new.csv --plot drift.svg
    ingenuo drift patients.ingenuo november.csv --reference october.csv --json | jq .changed
    """
    options.check_inputs(model, files=[*files, reference], given=given)
    from ingenuo.cli.work.judge import reference_of
    from ingenuo.evaluation.drift import drift

    loaded = options.load_model(model)
    rows = options.open_rows(loaded, files, given, labelled=False)
    before = reference_of(loaded, model, reference, given)
    with options.watched(rows, "comparing"):
        found = drift(loaded, rows, before, level=given["level"])
    if given["plot"]:
        options.draw(found.plot(), given["plot"])
    options.show(found, given["as_json"])


@options.command(
    "audit",
    MODEL,
    click.argument("file", type=click.Path(), required=False, metavar="[FILE]"),
    AUDITED,
    TARGET,
    option("--class CLASS", "The class whose probability or decision is looked at  [of two the second]", "class_"),
    option("--reference GROUP", "The group of rows that the others are compared with  [the largest]"),
    option("--groups KIND...", "Of sentences: which kinds of groups, such as gender  [all]"),
    option("--label LABEL=CLASS...", "Of sentences that have labels: their class.", "labels"),
    option("--text-column COLUMN", "The column that takes the sentences, where there are several.", "column"),
    options.picture("--plot", "Draw it"),
    CONFIDENCE,
    READING,
    SEED,
    JSON,
)
def audit(model: str, file: str | None, plot: str | None, as_json: bool, **given: Any) -> None:
    """Compare the answers of MODEL to groups of people.

    Of a model of texts, by sentences that differ in a name or an identity term only. With FILE and --protected, by
    rows: decisions, errors and calibration in each group. The model need not know that column.

    \b
    ingenuo audit mail.ingenuo
    ingenuo audit mail.ingenuo --templates italian --class spam
    ingenuo audit income.ingenuo test.csv --protected sex --protected race --class '>50K'
    ingenuo audit income.ingenuo test.csv --protected race --json
    """
    if given["protected"] and file is None:
        raise click.UsageError("--protected is a column of a FILE; give that too")
    if file is not None and not given["protected"]:
        raise click.UsageError("say which column of FILE tells the groups by --protected")
    if plot and len(given["protected"]) + len(given["templates"]) > 1:
        raise click.UsageError("--plot draws one audit, and these are several; ask for one at a time")
    labels = options.pairs(given.pop("labels"), "--label", "LABEL=CLASS")
    options.check_inputs(model, files=[file], given=given)
    from ingenuo.cli.work.judge import AUDIT, audits_of

    loaded = options.load_model(model)
    rows = None if file is None else options.open_files([file], given)
    asked = {name: given[name] for name in AUDIT}
    found = audits_of(loaded, rows, given["target"], labels=labels, **asked)
    if plot:
        options.draw(found[0].plot(), plot)
    if as_json:
        options.out_json(found[0].to_dict() if len(found) == 1 else [each.to_dict() for each in found])
    else:
        options.out("\n\n".join(map(str, found)))
