"""`ingenuo demo`: the main job on data the package carries."""

from __future__ import annotations

import click


@click.command("demo", short_help="Learn, answer, explain, forget and merge on data the package carries.")
@click.option("--seed", default=0, show_default=True, help="Which rows are held out.")
def command(seed: int) -> None:
    """Learn two small tables, answer, show the working, forget some rows and merge two models."""
    from rich.console import Console

    from ingenuo.demo import run

    console = Console(highlight=False, soft_wrap=True)
    for title, body in run(seed):
        console.rule(f"[bold]{title}", align="left")
        console.print(body, markup=False)
        console.print()
