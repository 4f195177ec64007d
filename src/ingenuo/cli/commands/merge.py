"""`ingenuo merge`: add up what several models have learned."""

from __future__ import annotations

import click

from ingenuo.cli import options


@click.command("merge", short_help="Add up what several models have learned.")
@click.argument("models", nargs=-1, required=True, metavar="MODEL MODEL...", type=click.Path())
@click.option("-o", "--output", required=True, metavar="MODEL", help="Where to write the sum; - is standard output.")
@options.minimum_count
@options.as_json
@options.common
def command(models: tuple[str, ...], output: str, minimum: int | None, as_json: bool) -> None:
    """Add up what MODELs have learned apart: the sum is the model that would have learned all their rows.

    A MODEL may be a tally, saved without its model. Tallies alone add up to a tally; beside models, they are added to
    these where they have the same tables. The order of the files does not matter. With --minimum-count, one MODEL is
    enough.

    \b
    ingenuo merge rome.ingenuo madrid.ingenuo -o both.ingenuo
    ingenuo merge rome.ingenuo madrid.ingenuo -o public.ingenuo --minimum-count 10
    """
    options.refuse_both(output, as_json)
    if len(models) < 2 and minimum is None:
        raise click.UsageError("give two models at least")
    options.check_writable(output, model=True)
    options.check_inputs(*models)
    from ingenuo.cli.work.change import merge

    merged = merge([(path, options.load(path), options.about(path)) for path in models], minimum)
    for note in merged.notes:
        options.say(note)
    options.save(merged.model, output, merged.about)
    if as_json:
        options.out_json(merged.about)
