"""From files to models and back: training, changing, answering, with where each model comes from kept beside it."""

from __future__ import annotations

from ingenuo.training.answers import Wanted, answered
from ingenuo.training.changing import change, merge
from ingenuo.training.provenance import learned_already, measures
from ingenuo.training.rows import model_and_kinds, rows_for
from ingenuo.training.showing import judgement, schema_table, summary
from ingenuo.training.train import Trained, train

__all__ = [
    "Trained",
    "Wanted",
    "answered",
    "change",
    "judgement",
    "learned_already",
    "measures",
    "merge",
    "model_and_kinds",
    "rows_for",
    "schema_table",
    "summary",
    "train",
]
