"""`ingenuo believe`: hypotheses and observations in, posterior beliefs out."""

from __future__ import annotations

from typing import Any

import click

from ingenuo.cli import options, pictures


@click.command("believe", short_help="Hypotheses and what is observed in, posterior beliefs out.")
@click.argument("observations", nargs=-1)
@click.option(
    "--hypothesis",
    "lines",
    multiple=True,
    metavar="TEXT",
    help="'NAME PRIOR: VALUE=PROBABILITY VALUE=PROBABILITY …', once for each; without priors all have the same. "
    "Commas between the values let these have spaces.",
)
@click.option(
    "--file",
    "path",
    type=click.Path(),
    metavar="FILE",
    help="A .yaml or .json file with priors, likelihoods and perhaps observations and normalise.",
)
@click.option(
    "--normalise",
    is_flag=True,
    help="Priors and probabilities are weights, such as counts, to be divided by their sum.",
)
@click.option(
    "--data",
    type=click.Path(),
    metavar="FILE",
    help="Observations from a file, in the order of its rows; - is standard input.",
)
@click.option("--column", metavar="NAME", help="The column of --data that holds them  [its only column]")
@click.option("--trace", is_flag=True, help="What was believed after each observation.")
@click.option("--predict", is_flag=True, help="The probability of what comes next, and the Bayes-optimal vote.")
@pictures.option("--plot", help="Draw the beliefs over the observations")
@options.as_json
@options.common
def command(
    observations: tuple[str, ...], lines: tuple[str, ...], path: str | None, normalise: bool, **chosen: Any
) -> None:
    """What to believe of some hypotheses after some OBSERVATIONS, by Bayes' rule.

    OBSERVATIONS are values that the hypotheses speak of, in their order; 70*Head is seventy of them. Numbers stay exact
    fractions, decimals too.

    \b
    ingenuo believe --hypothesis 'fair 3/4: Head=1/2 Tail=1/2' \\
                    --hypothesis 'biased 1/4: Head=0.6 Tail=0.4' Head Head Tail --trace
    ingenuo believe --normalise --hypothesis 'red 4: apple=2 lemon=4 orange=6' \\
                    --hypothesis 'white 6: apple=3 lemon=6 orange=1' orange
    ingenuo believe --file beliefs.yaml '70*Head' '30*Tail' --plot beliefs.svg
    ingenuo believe --file beliefs.yaml --data tosses.csv --column toss --predict --json

    \b
    beliefs.yaml:
      priors: {fair: 3/4, biased: 1/4}
      likelihoods:
        fair: {Head: 1/2, Tail: 1/2}
        biased: {Head: 0.6, Tail: 0.4}
    """
    if (path is None) == (not lines):
        raise click.UsageError("give the hypotheses by --hypothesis, once for each, or by --file")
    if chosen["column"] is not None and chosen["data"] is None:
        raise click.UsageError("--column is a column of --data; give that too")
    options.check_inputs(chosen["data"])
    from ingenuo.errors import IngenuoError
    from ingenuo.estimators import written_hypotheses as written

    found = written.Written.of(lines, normalise) if path is None else written.Written.read(path, normalise)
    try:
        believed = written.seen(found.hypotheses(), found.observations)
    except IngenuoError as error:
        if "normalise=True" not in str(error):
            raise
        raise click.ClickException(str(error).replace("normalise=True", "--normalise")) from None
    if chosen["data"] is not None:
        for values in written.column_values(options.open_files([chosen["data"]], {}), chosen["column"]):
            believed = believed.update(values)
    known = {value for table in found.likelihoods.values() for value in table}
    believed = written.seen(believed, [written.observed(each, known) for each in observations])
    if chosen["plot"] is not None:
        pictures.write(believed.plot(), chosen["plot"])
    if chosen["as_json"]:
        options.out_json(written.to_dict(believed, chosen["trace"]))
        return
    if chosen["trace"]:
        options.out(f"{believed.trace}\n")
    options.out(str(believed))
    fractions = [f"{name} {written.shown(p)}" for name, p in believed.posterior.items() if written.is_short(p)]
    if fractions:
        options.out(f"exactly: {', '.join(fractions)}")
    if believed.n_observations:
        options.out(f"most probable (MAP): {believed.map()}; most likely, whatever the priors (ML): {believed.ml()}")
    if chosen["predict"]:
        votes = ", ".join(f"{value} {written.shown(p)}" for value, p in believed.predict().items())
        options.out(f"next: {votes}; the Bayes-optimal answer is {believed.classify()}")
