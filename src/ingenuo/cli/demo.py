"""`ingenuo demo`: the main job on data the package carries."""

from __future__ import annotations

import click

from ingenuo.cli import options


@click.command("demo", short_help="Learn, answer, explain, forget and merge on data the package carries.")
@click.option("--save", "folder", metavar="FOLDER", help="Write the tables there as CSV files instead, to play with.")
@click.option("--seed", default=0, show_default=True, help="Which rows are held out.")
@options.common
def command(folder: str | None, seed: int) -> None:
    """Learn two small tables, answer, show the working, forget some rows and merge two models.

    \b
    ingenuo demo
    ingenuo demo --save . && ingenuo train diabetes.csv --target progression -o diabetes.ingenuo
    """
    from ingenuo import demo

    if folder is not None:
        for path in demo.save_tables(folder):
            options.say(f"written to {path}")
        return
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    for title, body in demo.run(seed):
        console.rule(f"[bold]{title}", align="left")
        console.print(body, markup=False)
        console.print()
