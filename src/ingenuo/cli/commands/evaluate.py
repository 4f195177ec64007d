"""`ingenuo evaluate`: judge a model by rows whose class is known."""

from __future__ import annotations

from typing import Any

import click

from ingenuo.cli import options


@click.command("evaluate", short_help="Judge a model by rows whose class is known, with intervals.")
@click.argument("model", metavar="MODEL", type=click.Path())
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
@options.target
@click.option("--weight", metavar="COLUMN", help="The column that says how much each row counts.")
@click.option("--reliability", is_flag=True, help="Are the probabilities right? Also show what became of each bin.")
@options.option("--plot", "Draw the confusions and the curves, or the reliability")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="How sure the intervals are.")
@options.reading
@options.seed
@options.as_json
@options.common
def command(model: str, files: tuple[str, ...], target: str | None, **given: Any) -> None:
    """Judge MODEL by the rows of FILEs, which it should not have learned.

    \b
    ingenuo evaluate patients.ingenuo test.csv
    ingenuo evaluate patients.ingenuo test.csv --reliability --plot reliability.svg
    ingenuo evaluate patients.ingenuo test.csv --json | jq .accuracy
    """
    options.check_inputs(model, *files)
    from ingenuo.cli.options import watched
    from ingenuo.cli.work.change import learned_already, measures
    from ingenuo.evaluation.evaluation import evaluate
    from ingenuo.evaluation.numbers import evaluate_numbers
    from ingenuo.evaluation.reliability import reliability
    from ingenuo.rows.streams import rows_for

    loaded = options.load_model(model)
    opened = options.open_files(files, given)
    if seen_before := learned_already(options.about(model), opened):
        options.say(f"note: {seen_before}")
    besides = [] if given["weight"] is None else [given["weight"]]
    rows = rows_for(loaded, opened, target, besides=besides)
    if hasattr(loaded, "predict_quantiles"):
        if given["reliability"] or given["plot"] or given["weight"]:
            raise click.UsageError(
                "--reliability, --plot and --weight are of classes; a regressor answers with numbers"
            )
        numbers = evaluate_numbers(loaded, rows, rows.target)
        if given["as_json"]:
            options.out_json(numbers.to_dict())
        else:
            options.out(str(numbers))
        return
    with watched(rows, "judging"):
        found = evaluate(
            loaded,
            rows,
            rows.target,
            sample_weight=given["weight"],
            confidence=given["confidence"],
            random_state=given["seed"],
        )
    if rows.note:
        options.say(rows.note)
    shown = reliability(found) if given["reliability"] else None
    if given["plot"]:
        drawn = found.plot().axes_ if shown is None else shown.plot()
        options.write(drawn, given["plot"])
    if given["as_json"]:
        options.out_json(measures(found, list(found)) | ({} if shown is None else {"bins": shown.table().to_pylist()}))
        return
    options.out(str(found))
    if shown is not None:
        options.out(f"\n{shown}")
