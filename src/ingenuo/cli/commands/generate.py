"""`ingenuo generate`: rows or texts drawn from a model."""

from __future__ import annotations

from typing import Any

import click

from ingenuo.cli import options

FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "text")


@click.command("generate", short_help="Draw rows or texts from a model.")
@click.argument("model", type=click.Path(), metavar="MODEL")
@click.option("-n", "--rows", "n", type=click.IntRange(min=0), default=10, show_default=True, help="How many.")
@click.option(
    "--class", "class_", metavar="CLASS", help="Draw from this class only  [classes are drawn by their prior]"
)
@click.option("--words", type=click.IntRange(min=0), metavar="N", help="Of a language-model: texts of N words each.")
@click.option("--context", metavar="TEXT", help="Of a language-model: the words to go on from.")
@click.option(
    "--given", multiple=True, metavar="NODE=STATE", help="Of a network: what is known, as in `ingenuo network query`."
)
@click.option("-o", "--output", metavar="FILE", help="Where to write them; - is standard output  [-]")
@click.option(
    "--to",
    "format_",
    type=click.Choice(FORMATS),
    help="What to write  [as the ending of FILE says, else csv, and text for a language-model]",
)
@options.seed
@options.common
def command(model: str, n: int, output: str | None, format_: str | None, seed: int, **given: Any) -> None:
    """Draw rows or texts from MODEL.

    Rows of a classifier end with their class, under the name that it was trained by. `text` is one text in each line.

    \b
    ingenuo generate weather.ingenuo -n 5
    ingenuo generate weather.ingenuo -n 1000 --class yes --seed 7 -o days.jsonl
    ingenuo generate novels.ingenuo --words 30 --context 'it was'
    ingenuo generate cold.ingenuo -n 100 --given season=winter -o winters.csv
    """
    options.check_inputs(model)
    from ingenuo.cli.typed import written_class
    from ingenuo.cli.work.answer import as_lines, generate
    from ingenuo.rows.files.write import format_of, write

    if format_ is None and output is not None and output != "-":
        format_ = "text" if output.endswith(".txt") else format_of(output)
    options.check_writable(output)
    loaded = options.load(model)
    found = generate(
        loaded,
        n,
        class_=None if given["class_"] is None else written_class(loaded, given["class_"]),
        given=_given(loaded, given["given"]),
        n_words=given["words"],
        context=given["context"],
        random_state=seed,
    )
    if format_ is None:
        format_ = "text" if found.column_names == ["text"] else "csv"
    if format_ == "text":
        options.write_text(as_lines(found), output)
    else:
        options.write_bytes(b"".join(write(iter([found]), format_)), output)


def _given(model: Any, given: tuple[str, ...]) -> Any:
    """What is known of a network's nodes; the library refuses it for any other model."""
    from ingenuo.cli.commands.network import evidence
    from ingenuo.networks.network import Network

    return evidence(model, given, "--given") if isinstance(model, Network) else given
