"""`ingenuo train`: from files to a model."""

from __future__ import annotations

from typing import Any

import click

from ingenuo.cli import options
from ingenuo.models.registry import COMMANDS


@click.command("train", short_help="Learn a model from files.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path())
@options.target
@click.option("-o", "--output", metavar="MODEL", help="Where to write the model; - is standard output.")
@click.option(
    "--model",
    "spec",
    default="naive-bayes",
    show_default=True,
    metavar="NAME[:SETTING=VALUE,...]",
    help=f"What is learned: {', '.join(COMMANDS)}.",
)
@click.option(
    "--tune", is_flag=True, help="Choose densities, smoothing and weights by the rows left out (naive-bayes)."
)
@click.option(
    "--calibrate",
    "calibration",
    is_flag=False,
    flag_value="auto",
    metavar="[METHOD]",
    help="Repair probabilities by the rows left out: auto, temperature, platt, isotonic (naive-bayes).",
)
@click.option("--prior", metavar="PRIOR", help="laplace, maximum-likelihood, lidstone:ALPHA or m-estimate:M.")
@click.option("--ngrams", metavar="N", help="Of texts, count up to N words in a row; 2-3 for pairs and triples only.")
@click.option("--negation", metavar="LANGUAGE", help="Of texts, mark what is negated: english, italian, spanish.")
@click.option("--set", "settings", multiple=True, metavar="SETTING=VALUE", help="Any other parameter of the model.")
@click.option("--weight", metavar="COLUMN", help="The column that says how often each row counts.")
@click.option("--folds", metavar="K", help="Judge the model by K folds, or leave-one-out.")
@click.option("--holdout", type=float, metavar="SHARE", help="Judge it by this share of the rows, held out.")
@click.option(
    "--checkpoint", metavar="PATH", help="Keep what is learned on the way here; go on from it if it is there."
)
@options.minimum_count
@options.engine
@click.option("--dry-run", is_flag=True, help="Show what the columns are taken for, and learn nothing.")
@options.reading
@options.seed
@options.as_json
@options.common
def command(files: tuple[str, ...], target: str | None, output: str | None, **given: Any) -> None:
    """Learn a model from FILEs and write it to MODEL.

    What each column is taken for, and why, is shown first; --column and --ignore decide otherwise. Where sums are all
    that is learned (naive-bayes, discriminant, least-squares, language), files are read a part at a time and may be
    larger than the memory.

    \b
    ingenuo train patients.csv --target outcome -o patients.ingenuo --folds 10
    ingenuo train 'mail/*.csv.gz' --target label --column subject=text -o mail.ingenuo --tune --calibrate
    ingenuo train reviews/ -o reviews.ingenuo --model softmax:weighting=naive-bayes --ngrams 2 --holdout 0.2
    ingenuo train visits/ --target bought -o visits.ingenuo --engine dask --scheduler tcp://10.0.0.5:8786
    cut -f1,3 log.tsv | ingenuo train - --format tsv --target status -o log.ingenuo
    """
    if output is None and not given["dry_run"]:
        raise click.UsageError("Missing option '-o' / '--output': where to write the model (or take --dry-run).")
    chosen = options.engine_of(given)
    options.refuse_both(output, given["as_json"])
    options.check_writable(output, files, model=True)
    settings = _settings(given)
    options.check_inputs(*files)
    from ingenuo.cli.options import watched
    from ingenuo.cli.work.train import judgement, model_and_kinds, schema_table, summary, train

    model, declared = model_and_kinds(
        given["spec"],
        options.kinds(given["columns"], given["ignore"]),
        target,
        **settings,
    )
    rows = options.open_files(files, given, target, columns=declared)
    options.say(schema_table(rows, target, given["weight"]))
    if given["dry_run"]:
        return
    assert output is not None
    folds = given["folds"]
    with watched(rows, "learning"), options.opened_engine(*chosen) as engine:
        done = train(
            model,
            rows,
            target,
            weight=given["weight"],
            folds=int(folds) if folds is not None and folds.isdecimal() else folds,
            holdout=given["holdout"],
            checkpoint=given["checkpoint"],
            minimum=given["minimum"],
            seed=given["seed"],
            engine=engine,
        )
    options.say(summary(done))
    if done.evaluation is not None and not given["as_json"]:
        (options.say if output == "-" else options.out)(judgement(done))
    done.about["command"] = options.typed()
    options.save(done.model, output, done.about)
    if given["as_json"]:
        options.out_json(done.about)


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """The settings of the model that were given, by any option."""
    found: dict[str, Any] = {}
    for each in given["settings"]:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{each!r} is no SETTING=VALUE", param_hint="--set")
        found[name.replace("-", "_")] = value
    for name in ("calibration", "prior", "ngrams", "negation"):
        if given[name] is not None:
            found[name] = given[name]
    return found | ({"tune": True} if given["tune"] else {})
