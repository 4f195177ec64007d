"""What `python -m benchmarks quality` found, as Markdown: means, every table, where we lose, and a picture of ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import rc_context

from benchmarks import peers
from ingenuo.evaluation.significance import Nemenyi, nemenyi

VOTE = "BayesClassifier"
# The peers whose best is to be beaten on a table.
STRONG = (peers.LOGISTIC, peers.FOREST, peers.BOOSTING, peers.HISTOGRAMS, peers.LIGHT_GBM, peers.CAT_BOOST)
# The collections of texts, each with the accuracy of NBSVM-bi that Wang & Manning (2012) published.
COLLECTIONS: Mapping[str, float | None] = {
    "RT-s": 79.38,
    "CR": 81.75,
    "RT-2k": 89.45,
    "20 Newsgroups by date": None,
    "TREC questions": None,
}
PICTURE = "quality.svg"


@dataclass(frozen=True)
class Fold:
    """What one model answered for one fold."""

    rows: int
    accuracy: float  # percent
    log_loss: float
    gaps: Sequence[float]  # in each bin of probability, right answers less the sum of their probabilities
    fit: float  # seconds of all threads
    fit_clock: float
    predict: float
    predict_clock: float


Found = dict[str, dict[str, list[Fold]]]  # of model and table


@dataclass(frozen=True)
class Score:
    """Means over some folds of a table; the calibration error is that of all their rows together."""

    accuracy: float
    log_loss: float
    ece: float
    fit: float
    fit_clock: float
    predict: float
    folds: int

    @classmethod
    def of(cls, folds: Sequence[Fold]) -> Score:
        """Of one table."""
        means = {
            name: float(np.mean([getattr(fold, name) for fold in folds]))
            for name in ("accuracy", "log_loss", "fit", "fit_clock", "predict")
        }
        gaps = np.abs(np.sum([fold.gaps for fold in folds], axis=0)).sum()
        return cls(**means, ece=float(gaps / sum(fold.rows for fold in folds)), folds=len(folds))

    def __str__(self) -> str:
        right = f"{self.accuracy:.2f} % / {self.log_loss:.3f}"
        return f"{right}, ECE {self.ece:.3f}, fit {self.fit:.2g} s, {self.folds} folds"


# What is shown of a score: its name in the page, its form, and which is the better.
MEASURES: Mapping[str, tuple[str, str, Callable[..., float]]] = {
    "log_loss": ("log loss", ".3f", min),
    "accuracy": ("accuracy %", ".2f", max),
    "ece": ("ECE", ".3f", min),
    "fit": ("fit, seconds of the processor", ".2f", min),
    "fit_clock": ("fit, seconds by the clock", ".2f", min),
    "predict": ("answers for a fold, seconds of the processor", ".3f", min),
}


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _head(first: str, others: Sequence[str]) -> list[str]:
    return [_row(first, *others), "|---|" + "---:|" * len(others)]


def _scores(found: Found) -> dict[str, dict[str, Score]]:
    return {model: {table: Score.of(folds) for table, folds in each.items()} for model, each in found.items()}


def _mean(scores: Mapping[str, Score], measure: str) -> float:
    return float(np.mean([getattr(score, measure) for score in scores.values()]))


# The parts of the page.


def means(found: Found) -> list[str]:
    """A line for each model, the least log loss first."""
    scores = _scores(found)
    titles = [title for title, _, _ in MEASURES.values()]
    ratio = peers.BOOSTING in found
    lines = _head(
        "mean of the tables",
        [
            *titles[:3],
            "fit, s of the processor",
            "by the clock",
            *(["fit, × GradientBoosting"] if ratio else []),
            "answers, µs a row",
        ],
    )
    for model in sorted(found, key=lambda model: _mean(scores[model], "log_loss")):
        mean = {measure: _mean(scores[model], measure) for measure in MEASURES}
        cells = [format(mean[measure], form) for measure, (_, form, _) in list(MEASURES.items())[:5]]
        if ratio:
            cells.append(f"{mean['fit'] / _mean(scores[peers.BOOSTING], 'fit'):.2f}")
        rows = [
            sum(fold.predict for fold in folds) / sum(fold.rows for fold in folds) for folds in found[model].values()
        ]
        lines.append(_row(f"**{model}**" if model == VOTE else model, *cells, f"{1e6 * np.mean(rows):.1f}"))
    return lines


def every_table(found: Found, measure: str) -> list[str]:
    """A line for each table, the best in bold if all had the same folds; of those that had fewer, how many."""
    title, form, best_of = MEASURES[measure]
    scores = _scores(found)
    tables = list(next(iter(found.values())))
    most = max(score.folds for each in scores.values() for score in each.values())
    lines = _head(title, list(found))
    for table in tables:
        values = {model: getattr(each[table], measure) for model, each in scores.items()}
        same = len({each[table].folds for each in scores.values()}) == 1
        best = format(best_of(values.values()), form) if same else None
        cells = []
        for model, value in values.items():
            shown, folds = format(value, form), scores[model][table].folds
            cells.append((f"**{shown}**" if shown == best else shown) + (f" ({folds})" if folds < most else ""))
        lines.append(_row(table, *cells))
    return [*lines, _row("**mean**", *(format(_mean(each, measure), form) for each in scores.values()))]


def against_the_best(found: Found, model: str = VOTE) -> str:
    """On how many tables the log loss is below that of the best peer, on the folds of both; and on which it is not."""
    strong = [name for name in STRONG if name in found]
    lost, tables = [], list(found[model])
    for table in tables:
        gaps = {name: float(np.subtract(*_common(found, model, name, table))) for name in strong}
        best = max(gaps, key=lambda name: gaps[name])
        if gaps[best] >= 0:
            ours, peer = _common(found, model, best, table)
            lost.append(f"{table} ({ours:.3f}, {best} {peer:.3f})")
    won = f"{len(tables) - len(lost)} of {len(tables)} tables"
    won = f"{model} has a lower log loss than the best of {', '.join(strong)} on {won}"
    return f"{won}. It has not on {', '.join(lost)}." if lost else f"{won}."


def on_common_folds(found: Found, model: str = VOTE) -> list[str]:
    """The mean log losses of a model and of each strong peer, on the folds that both have."""
    lines = _head("mean log loss on the folds that both have", [model, "peer"])
    for name in (name for name in STRONG if name in found):
        ours, theirs = np.mean([_common(found, model, name, table) for table in found[model]], axis=0)
        lines.append(_row(name, f"{ours:.3f}", f"{theirs:.3f}"))
    return lines


def _common(found: Found, model: str, other: str, table: str) -> tuple[float, float]:
    """The log losses of two models on the folds that both have."""
    both = [found[name][table] for name in (model, other)]
    n = min(map(len, both))
    ours, theirs = (Score.of(folds[:n]).log_loss for folds in both)
    return ours, theirs


def ranks(found: Found) -> Nemenyi:
    """Average ranks by log loss."""
    scores = _scores(found)
    table = np.array([[score.log_loss for score in each.values()] for each in scores.values()]).T
    return nemenyi(table, names=list(found), higher_is_better=False)


def draw(found: Found, path: Path) -> None:
    """Draw the critical differences."""
    with rc_context({"svg.hashsalt": "ingenuo"}):
        ranks(found).plot().figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")


def of_tables(found: Found) -> str:
    """The section of tables."""
    lines = means(found)
    if VOTE in found and any(name in found for name in STRONG):
        lines += ["", *on_common_folds(found), "", against_the_best(found)]
    for measure in MEASURES:
        lines += ["", *every_table(found, measure)]
    return "\n".join(lines)


def of_texts(found: Found) -> str:
    """The section of texts: a line for each model on each collection, and what is published."""
    scores = _scores(found)
    lines = _head("accuracy % / log loss / ECE", [*found, "NBSVM-bi, published"])
    for name in next(iter(found.values())):
        cells = [
            f"{each[name].accuracy:.2f} / {each[name].log_loss:.3f} / {each[name].ece:.3f}" for each in scores.values()
        ]
        published = COLLECTIONS[name]
        lines.append(_row(name, *cells, "" if published is None else f"{published:.2f}"))
    seconds = [f"{_mean(each, 'fit'):.2f}" for each in scores.values()]
    return "\n".join([*lines, _row("fit, s of the processor, mean", *seconds, "")])


SECTIONS: Mapping[str, Callable[[Found], str]] = {"tables": of_tables, "texts": of_texts}


def write(page: Path, sections: Mapping[str, str]) -> None:
    """Put the sections between their markers, `<!-- NAME -->` and `<!-- end of NAME -->`."""
    text = page.read_text(encoding="utf-8")
    for name, section in sections.items():
        start, end = (f"<!-- {marker} -->" for marker in (name, f"end of {name}"))
        before, found, rest = text.partition(start)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise ValueError(f"{page} has no {start} … {end} to write between")
        text = f"{before}{start}\n\n{section}\n\n{end}{after}"
    page.write_text(text, encoding="utf-8")
