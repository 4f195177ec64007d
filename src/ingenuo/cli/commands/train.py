"""`ingenuo train`: from files to a model; `ingenuo select`: which columns are worth having."""

from __future__ import annotations

import os
import shlex
from contextlib import nullcontext
from typing import Any

import click

from ingenuo.cli import options
from ingenuo.cli.options import FILES, JSON, MINIMUM, READING, SEED, TARGET, Given, option
from ingenuo.models.registry import COMMANDS, default_model


@options.command(
    "train",
    FILES,
    TARGET,
    option("-o --output MODEL", "Where to write the model; - is standard output  [the name of FILE, with .ingenuo]"),
    option(
        "--model NAME[:SETTING=VALUE,...]",
        f"What is learned: {', '.join(COMMANDS)}  [bayes; naive-bayes with --checkpoint, --minimum-count and options "
        "that bayes has not]",
        "spec",
    ),
    option("--tune", "Choose densities, smoothing and weights by the rows left out (naive-bayes)."),
    option(
        "--calibrate [METHOD]",
        "Repair probabilities by the rows left out: auto, temperature, platt, isotonic (naive-bayes).",
        "calibration",
        is_flag=False,
        flag_value="auto",
    ),
    option(
        "--prior PRIOR",
        "What is imagined beside the rows: laplace, maximum-likelihood, lidstone:ALPHA, m-estimate:M, "
        "m-estimate:M,VALUE=SHARE,..., dirichlet:VALUE=ALPHA,...; or a YAML file.",
    ),
    option("--class-prior PRIOR", "The same of the classes: CLASS=SHARE,..., uniform, any PRIOR, or a YAML file."),
    option("--ngrams N", "Of texts, count up to N words in a row; 2-3 for pairs and triples only."),
    option("--characters N", "Of texts, count up to N characters in a row in place of words; better a range: 2-5."),
    option("--negation LANGUAGE", "Of texts, mark what is negated: english, italian, spanish."),
    option("--fingerprints", "Keep a hash of each row, by which forget knows what was learned (naive-bayes)."),
    option(
        "--stop-words WORDS",
        "Of texts, words to leave out: a language (english, …), the N most frequent, the,of,film, or a FILE of words.",
    ),
    option("--set SETTING=VALUE...", "Any other parameter of the model.", "settings"),
    option("--weight COLUMN", "The column that says how often each row counts."),
    option("--folds K", "Judge the model by K folds, or leave-one-out."),
    option("--holdout SHARE", "Judge it by this share of the rows, held out.", type=float),
    option("--checkpoint PATH", "Keep what is learned on the way here; go on from it if it is there."),
    MINIMUM,
    option(
        "--engine local|dask|spark",
        "Where the files are read and added up: here, or by the workers of Dask or Spark  [local]",
    ),
    option("--scheduler ADDRESS", "Dask's, such as tcp://host:8786  [workers on this machine]"),
    option("--master URL", "Spark's, such as spark://host:7077  [this machine: local[*]]"),
    option("--dry-run", "Show what the columns are taken for, and learn nothing."),
    READING,
    SEED,
    JSON,
)
def train(files: tuple[str, ...], target: str | None, output: str | None, **given: Any) -> None:
    """Learn a model from FILEs and write it to MODEL: without -o, data/days.csv.gz to days.ingenuo, in this folder.

    What each column is taken for, and why, is shown first; --column and --ignore decide otherwise. The model is a vote
    of several (bayes) unless --model says otherwise. Where sums are all that is learned (naive-bayes, discriminant,
    least-squares, language), and for a vote, files are read a part at a time and may be larger than the memory.

    \b
    ingenuo train patients.csv --target outcome --folds 10
    ingenuo train 'mail/*.csv.gz' --target label --column subject=text -o mail.ingenuo --tune --calibrate
    ingenuo train reviews/ -o reviews.ingenuo --model softmax:weighting=naive-bayes --ngrams 2 --holdout 0.2
    ingenuo train visits/ --target bought -o visits.ingenuo --engine dask --scheduler tcp://10.0.0.5:8786
    ingenuo train 'SELECT * FROM visits' --database postgresql://ana@host/shop --target bought -o visits.ingenuo
    cut -f1,3 log.tsv | ingenuo train - --format tsv --target status -o log.ingenuo
    """
    old = None
    _refuse_for_queries(given)
    if output is None and not given["dry_run"]:
        output = _default_output(files, given)
        old = f"{output}~" if os.path.isfile(output) else None  # nobody asked for it to be overwritten
    name, address = _engine(given)
    options.check_model_output(output, files, given["as_json"])
    options.check_model_output(old, files, as_json=False)
    settings = _settings(given)
    options.check_inputs(files=files, given=given)
    from ingenuo.cli.work.train import judgement, model_and_kinds, schema_table, summary, train
    from ingenuo.rows.engines import open_engine

    spec = given["spec"] or default_model(settings, only_sums=bool(given["checkpoint"] or given["minimum"]))
    model, declared = model_and_kinds(spec, options.kinds(given), target, **settings)
    rows = options.open_files(files, given, target, model, columns=declared)
    if options.is_heard():
        options.say(schema_table(model, rows, target, given["weight"]))
    if given["dry_run"]:
        return
    assert output is not None
    folds = given["folds"]
    how = {each: given[each] for each in ("weight", "holdout", "checkpoint", "minimum", "seed")}
    how["folds"] = int(folds) if folds is not None and folds.isdecimal() else folds
    engine = nullcontext() if name == "local" else open_engine(name, address)
    with options.watched(rows, "learning"), engine as running:
        done = train(model, rows, target, engine=running, **how)
    options.say(summary(done))
    if done.evaluation is not None and not given["as_json"]:
        (options.say if output == "-" else options.out)(judgement(done))
    done.about["command"] = options.typed()
    if old is not None:
        options.keep_old(output, old)
    options.save(done.model, output, done.about, given["as_json"])


def _refuse_for_queries(given: Given) -> None:
    """Refuse with --database what needs files that workers, or a later training, can read again."""
    if given["database"] is not None:
        for name in ("engine", "scheduler", "master", "checkpoint"):
            if given[name] not in (None, "local"):
                raise click.UsageError(f"--{name} is for files, and --database reads a query; write its rows to files.")


def _default_output(files: tuple[str, ...], given: Given) -> str:
    """The name of the one file or folder, without its endings, with ours; in the current folder, as data may be
    where nothing can be written.
    """
    if given["database"] is not None:
        raise click.UsageError("Missing option '-o' / '--output': where to write the model of a query.")
    if len(files) > 1 or files[0] == "-" or any(sign in files[0] for sign in "*?["):
        raise click.UsageError("Missing option '-o' / '--output': where to write the model of several files, or of -.")
    name = os.path.basename(os.path.abspath(files[0]))
    if not os.path.isdir(files[0]):
        name, ending = os.path.splitext(name)
        name = os.path.splitext(name)[0] if ending.lower() in options.PACKED else name
    return f"{name}.ingenuo"


def _settings(given: Given) -> Given:
    """The settings of the model that were given, by any option."""
    found: Given = {}
    for each in given["settings"]:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{each!r} is no SETTING=VALUE", param_hint="--set")
        found[name.replace("-", "_")] = value
    own = ("calibration", "prior", "class_prior", "ngrams", "characters", "negation", "stop_words")
    named = {name: given[name] for name in own if given[name] is not None}
    return found | named | {name: True for name in ("tune", "fingerprints") if given[name]}


def _engine(given: Given) -> tuple[str, str | None]:
    """The engine that the options ask for, and its address."""
    scheduler, master = given["scheduler"], given["master"]
    if scheduler is not None and master is not None:
        raise click.UsageError("--scheduler is of Dask, and --master of Spark; give one of them.")
    name = given["engine"] or ("dask" if scheduler is not None else "spark" if master is not None else "local")
    for each, address, its in (("--scheduler", scheduler, "dask"), ("--master", master, "spark")):
        if address is not None and name != its:
            raise click.UsageError(f"{each} is the address of {its}, and --engine is {name}.")
    for each in ("folds", "holdout", "checkpoint"):
        if name != "local" and given[each] is not None:
            raise click.UsageError(
                f"--{each} is for rows that one machine reads, and --engine is {name}; judge the model by files that "
                "it has not learned (ingenuo evaluate)."
            )
    return name, scheduler or master


@options.command(
    "select",
    FILES,
    TARGET,
    option("--method forward|gain", "Add one column after the other, or keep the first that help.", default="forward"),
    option("-n --attributes N", "How many to keep  [as many as help]", type=click.IntRange(min=1)),
    READING,
    JSON,
)
def select(files: tuple[str, ...], target: str | None, method: str, attributes: int | None, **given: Any) -> None:
    """Rank the columns of FILEs by what they tell of the class, and choose those that naive Bayes is better with.

    "information" is the information gain of a column, by the counts of all rows (numbers are cut into intervals);
    "gain alone" is by how much it lowers the log loss of rows that are left out. Both are in bits a row.

    \b
    ingenuo select patients.csv --target outcome
    ingenuo select patients.csv --target outcome --method gain -n 5 --json
    """
    options.check_inputs(files=files, given=given)
    from ingenuo.models.attribute_selection import AttributeSelector
    from ingenuo.rows.database import without_password
    from ingenuo.rows.streams import keep_labelled, target_and_weight

    rows = options.open_files(files, given, target)
    target, _ = target_and_weight(rows, target, None)
    found = AttributeSelector(method, attributes or "auto").fit(keep_labelled(rows, str(target)), target)
    if given["as_json"]:
        options.out_json(found.to_dict())
    else:
        options.out(str(found))
    rest = [column for each in found.ranking_ if not each.chosen for column in each.columns]
    if rest and len(rest) <= _LISTED:
        ignored = [word for name in rest for word in ("--ignore", str(name))]
        where = [] if given["database"] is None else ["--database", without_password(given["database"])]
        command = shlex.join(["ingenuo", "train", *files, *where, "--target", str(target), *ignored])
        options.say(f"to learn only those that are kept: {command}")


_LISTED = 20  # columns that are named to be left out
