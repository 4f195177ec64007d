"""`ingenuo demo` and `ingenuo completion`: the main job on data the package carries, and what completes commands."""

from __future__ import annotations

import os
from collections.abc import Iterator

import click

from ingenuo.cli import options
from ingenuo.cli.options import option


@options.command(
    "demo",
    option("--save FOLDER", "Write the tables there as CSV files instead, to play with.", "folder"),
    option("--seed", "Which rows are held out.", default=0),
)
def demo(folder: str | None, seed: int) -> None:
    """Learn two small tables, answer, show the working, forget some rows and merge two models.

    \b
    ingenuo demo
    ingenuo demo --save . && ingenuo train diabetes.csv --target progression -o diabetes.ingenuo
    """
    if folder is not None:
        from ingenuo.datasets import diabetes, play_tennis
        from ingenuo.rows.files.write import write
        from ingenuo.tally.container import replace_file

        for name, table in (("play_tennis", play_tennis()), ("diabetes", diabetes())):
            path = os.path.join(folder, f"{name}.csv")
            replace_file(os.path.realpath(path), write([table], "csv"))
            options.say(f"written to {os.path.normpath(path)}")
        return
    for title, body in _sections(seed):
        options.out(f"{options.bold(title)}\n\n{body}\n")


def _sections(seed: int) -> Iterator[tuple[str, str]]:
    """Titles and texts."""
    import numpy as np

    from ingenuo.datasets import diabetes, play_tennis
    from ingenuo.models.naive_bayes import NaiveBayes
    from ingenuo.tally.prior import MaximumLikelihood

    days = play_tennis()
    tennis = NaiveBayes(prior=MaximumLikelihood()).fit(days, "Play")
    right = f"{tennis.score(days, 'Play') * days.num_rows:.0f} of its {days.num_rows}"
    day = {"Outlook": "Sunny", "Temperature": "Cool", "Humidity": "High", "Wind": "Strong"}
    by_hand = f"It answers {right} days right. A new day, worked by hand:\n\n{tennis.explain(day)}"
    yield "PlayTennis: 14 days, no smoothing", by_hand

    table, target = diabetes(), "progression"
    order = np.random.default_rng(seed).permutation(table.num_rows)
    train, test = table.take(order[:300]), table.take(order[300:])
    model = NaiveBayes().fit(train, target)
    yield (
        "Diabetes: numbers and categories, 5 % of them missing",
        f"Learned 300 patients. Accuracy on {test.num_rows} others: {model.score(test, target):.3f}.\n\n{model.schema_}"
        f"\n\nThe first of them, with its arithmetic:\n\n{model.explain(test.slice(0, 1))}",
    )

    before, some, rest = model.tally_, train.slice(0, 20), train.slice(20)
    same = model.forget(some, target).tally_ == NaiveBayes().fit(rest, target).tally_
    again = model.partial_fit(some, target).tally_ == before
    yield (
        "Forgetting",
        f"20 patients forgotten. Equal, bit for bit, to a model that never saw them: {_yes(same)}.\n"
        f"Learned again. Equal, bit for bit, to the model before: {_yes(again)}.",
    )

    both = NaiveBayes().fit(some, target) + NaiveBayes().fit(rest, target)
    yield (
        "Merging",
        f"Two models merged are equal, bit for bit, to the one that saw all: {_yes(both.tally_ == before)}.",
    )


def _yes(same: bool) -> str:
    return "yes" if same else "NO"


@options.command("completion", click.argument("shell", type=click.Choice(["bash", "zsh", "fish"])))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what makes SHELL complete the commands and options of ingenuo.

    \b
    ingenuo completion bash >> ~/.bashrc
    ingenuo completion zsh >> ~/.zshrc
    ingenuo completion fish > ~/.config/fish/completions/ingenuo.fish
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    options.out(found(ctx.find_root().command, {}, "ingenuo", "_INGENUO_COMPLETE").source())
