"""`ingenuo believe`: hypotheses and observations in, posterior beliefs out."""

from __future__ import annotations

from typing import Any

import click

from ingenuo.cli import options
from ingenuo.cli.options import JSON, LANGUAGE, option
from ingenuo.language import say, translated


@options.command(
    "believe",
    click.argument("path", metavar="FILE", type=click.Path()),
    click.argument("observations", nargs=-1),
    option(
        "--data FILE",
        "Observations from a file, in the order of its rows; - is standard input.",
        type=click.Path(),
    ),
    option("--column NAME", "The column of --data that holds them  [its only column]"),
    option("--trace", "What was believed after each observation."),
    option("--predict", "The probability of what comes next, and the Bayes-optimal vote."),
    options.picture("--plot", "Draw the beliefs over the observations"),
    LANGUAGE,
    JSON,
)
def believe(path: str, observations: tuple[str, ...], **chosen: Any) -> None:
    """What to believe of the hypotheses of FILE after some OBSERVATIONS, by Bayes' rule.

    OBSERVATIONS are values that the hypotheses speak of, in their order. Numbers stay exact fractions, decimals too.

    \b
    ingenuo believe coin.yaml Head Head Tail --trace
    ingenuo believe coin.yaml --data tosses.csv --column toss --predict --json

    \b
    coin.yaml:
      priors: {fair: 3/4, biased: 1/4}
      likelihoods:
        fair: {Head: 1/2, Tail: 1/2}
        biased: {Head: 0.6, Tail: 0.4}
      observations: {Head: 70, Tail: 30}   # or a list; may be left out

    Without priors all hypotheses have the same. `normalise: true` says that the numbers are weights, such as counts.
    """
    if chosen["column"] is not None and chosen["data"] is None:
        raise click.UsageError("--column is a column of --data; give that too")
    language = chosen["language"]
    if language != "en" and chosen["as_json"]:
        raise click.UsageError("--language is of what people read, and --json is for programs; leave one of them out")
    options.check_inputs(path, chosen["data"])
    from ingenuo.cli import typed

    believed = typed.read(path)
    if chosen["data"] is not None:
        for values in typed.column_values(options.open_files([chosen["data"]], {}), chosen["column"]):
            believed = believed.update(values)
    believed = believed.update(list(observations))
    if chosen["plot"] is not None:
        options.draw(believed.plot(), chosen["plot"])
    if chosen["as_json"]:
        options.out_json(typed.to_dict(believed, chosen["trace"]))
        return
    if chosen["trace"]:
        options.out(f"{believed.trace.translate(language)}\n")
    options.out(str(believed.explain(language=language)))
    fractions = [f"{name} {typed.with_fraction(p)}" for name, p in believed.posterior.items() if typed.is_short(p)]
    lines = [say("exactly: {values}", values=", ".join(fractions))] if fractions else []
    if believed.n_observations:
        best = {"map": believed.map(), "ml": believed.ml()}
        lines.append(say("most probable (MAP): {map}; most likely, whatever the priors (ML): {ml}", **best))
    if chosen["predict"]:
        votes = ", ".join(f"{value} {typed.with_fraction(p)}" for value, p in believed.predict().items())
        lines.append(say("next: {votes}; the Bayes-optimal answer is {best}", votes=votes, best=believed.classify()))
    for line in lines:
        options.out(translated(line, language))
