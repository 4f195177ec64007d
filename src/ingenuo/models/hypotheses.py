"""A finite set of hypotheses and what is believed of them: Bayes' rule, one observation or a million at a time.

P(h | D) = P(D | h) P(h) / Σ_h' P(D | h') P(h')
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.models.likelihoods import Exactly, Models, Number, Steps, Tables, hashable, log, shares
from ingenuo.show.arithmetic import Explanation, Factor, Term, exponential
from ingenuo.show.plots import new_axes
from ingenuo.show.table import Block, PrintedTable, Shown
from ingenuo.tally.labels import objects

# The trace of beliefs: what was thought of each hypothesis after every observation, as rows, a table and a picture.


Floats = NDArray[np.float64]

# So many steps and hypotheses are printed, so many lines drawn with their names, through so many points.
_STEPS = 20
_HYPOTHESES = 8
_NAMED = 6
_POINTS = 1000
_TICKS = 12  # as long as there are no more steps, each is named on the axis


@dataclass(frozen=True, eq=False, repr=False)
class Beliefs(Shown, Sequence[dict[Any, float]]):
    """Beliefs before any observation, and after each step; prints as a table.

    >>> prior, logs = np.log([0.75, 0.25]), np.log([[0.5, 0.6], [0.5, 0.4]])
    >>> print(Beliefs(("fair", "biased"), prior, ["Head", "Tail"], np.array([0]), np.array([1]), logs))
    step  observation  fair      biased
    0                  0.750000  0.250000
    1     Head         0.714286  0.285714
    """

    names: tuple[Any, ...]
    log_prior: Floats
    labels: Sequence[Any]  # what can be observed
    places: NDArray[Any]  # and, for each step, which of these was
    times: NDArray[np.int64]  # and how often in a row
    logs: Floats  # log P(label | hypothesis), labels × hypotheses

    def __len__(self) -> int:
        return len(self.places) + 1

    @overload
    def __getitem__(self, step: int) -> dict[Any, float]: ...
    @overload
    def __getitem__(self, step: slice) -> list[dict[Any, float]]: ...
    def __getitem__(self, step: int | slice) -> Any:
        if isinstance(step, slice):
            return [dict(zip(self.names, row)) for row in self.at(np.arange(len(self))[step]).tolist()]
        if not -len(self) <= step < len(self):
            raise IndexError(f"there is no step {step}; the trace has steps 0 to {len(self) - 1}")
        return dict(zip(self.names, self.at(np.array([step % len(self)]))[0].tolist()))

    def __iter__(self) -> Iterator[dict[Any, float]]:
        for row in self.probabilities:
            yield dict(zip(self.names, row.tolist()))

    @property
    def probabilities(self) -> Floats:
        """Steps × hypotheses, the prior first."""
        return self.at(np.arange(len(self)))

    @property
    def seen(self) -> NDArray[np.int64]:
        """How many observations had been made at each step."""
        return np.concatenate([[0], np.cumsum(self.times)])

    def at(self, steps: NDArray[Any]) -> Floats:
        """Beliefs after some of the steps."""
        from scipy.special import softmax

        joint = np.tile(self.log_prior, (len(steps), 1))
        total = np.zeros(len(self.names), np.longdouble)
        block = max(1, (1 << 20) // len(self.names))
        last = int(steps.max(initial=0))
        for low in range(0, last, block):
            high = min(low + block, last)
            terms = self.logs[self.places[low:high]] * self.times[low:high, np.newaxis]
            # In long doubles, where there are any: a million roundings of a large sum would show in the seventh digit.
            sums = total + np.cumsum(terms, axis=0, dtype=np.longdouble)
            inside = (steps > low) & (steps <= high)
            joint[inside] += sums[steps[inside] - low - 1].astype(np.float64)
            total = sums[-1]
        return np.asarray(softmax(joint, axis=1))

    def observation(self, step: int) -> str:
        """What was observed at a step, and how often."""
        if step == 0:
            return ""
        times = int(self.times[step - 1])
        return shortened(self.labels[int(self.places[step - 1])]) + (f" ×{times:,}" if times > 1 else "")

    def _blocks(self) -> list[str | Block]:
        """Of many steps the first and the last, of many hypotheses those most believed in the end."""
        half = _STEPS // 2
        few = len(self) <= _STEPS + 1
        steps = np.arange(len(self)) if few else np.concatenate([np.arange(half), np.arange(half) + len(self) - half])
        found = self.at(steps)
        chosen = self._leading(found[-1], _HYPOTHESES)
        rows: list[list[Any]] = [[n, self.observation(n), *row[chosen]] for n, row in zip(steps.tolist(), found)]
        if not few:
            rows.insert(half, ["…", *[""] * (len(chosen) + 1)])
        heads = ["step", "observation", *(str(self.names[k]) for k in chosen)]
        hidden = len(self.names) - len(chosen)
        return [
            PrintedTable(heads, rows, ["", "", *[".6f"] * len(chosen)]),
            *([f"({hidden} less probable hypotheses are not shown)"] if hidden else []),
        ]

    def _leading(self, row: Floats, most: int) -> list[int]:
        """The places of the largest, in the order of the hypotheses."""
        return sorted(np.argsort(-row, kind="stable")[:most].tolist())

    def table(self) -> Any:
        """An Arrow table: step, observation, times, and P(hypothesis) for each."""
        import pyarrow as pa

        labels = [label if isinstance(label, str) else str(label) for label in self.labels]
        places = np.concatenate([[0], self.places]).astype(np.int64)
        before = np.arange(len(self)) == 0  # the prior, when nothing had been observed
        indices = pa.array(places, mask=before)
        observed = pa.DictionaryArray.from_arrays(indices, pa.array(labels, pa.string())).dictionary_decode()
        columns = {"step": np.arange(len(self)), "observation": observed, "times": np.append(0, self.times)}
        columns |= {f"P({name})": column for name, column in zip(self.names, self.probabilities.T)}
        return pa.table(columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw each hypothesis' probability over the observations; the axes are returned.

        Of many hypotheses those that were most believed at some time have names, the others are grey.
        """
        ax = new_axes(ax)
        steps, seen = _points(len(self)), self.seen
        found = self.at(steps)
        named = self._leading(found.max(axis=0), _NAMED)
        others = [k for k in range(len(self.names)) if k not in named]
        marker = "o" if len(self) <= 30 else ""
        for k in named:
            ax.plot(seen[steps], found[:, k], marker=marker, markersize=4, label=str(self.names[k]), zorder=2)
        for k in others:
            label = f"{len(others)} others" if k == others[0] else None
            ax.plot(seen[steps], found[:, k], color="0.8", linewidth=0.8, label=label, zorder=1)
        top = 1.0 if found.max() > 0.5 else float(found.max())  # of very many hypotheses each has little
        ax.set_ylim(-0.03 * top, 1.03 * top)
        ax.set_ylabel("probability")
        ax.set_xlabel("observations")
        if len(self) - 1 <= _TICKS and int(seen[-1]) == len(self) - 1:
            names = ["prior", *(self.observation(step) for step in range(1, len(self)))]
            long = sum(map(len, names)) + 2 * len(names) > 55  # so many letters stand side by side
            ax.set_xticks(seen, names, rotation=30 if long else 0, ha="right" if long else "center")
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        return ax


def shortened(observation: Any) -> str:
    """An observation in one line of a table."""
    text = " ".join(str(observation).split())
    return text if len(text) <= 40 else text[:39] + "…"


def _points(n: int) -> NDArray[np.intp]:
    """The steps that are drawn: all, or as many as can be seen, and more of the early ones, when beliefs move."""
    if n <= _POINTS:
        return np.arange(n)
    spread = np.linspace(0, n - 1, _POINTS // 2)
    early = np.geomspace(1, n - 1, _POINTS // 2)
    return np.unique(np.concatenate([spread, early]).round().astype(np.intp))


_EVERY: Any = object()  # predict() without a value
_LINES = 12  # of different observations, that `explain` shows one by one


class Hypotheses:
    """A finite set of hypotheses with their priors, and what each says of an observation.

    Nothing is ever changed: `update` gives new hypotheses that have seen more.

    Parameters
    ----------
    priors : mapping, or sequence of names
        The probability of each hypothesis; names alone have equal ones.
    likelihoods : mapping
        What each hypothesis says of an observation: a table, {observation: probability}, where what is left out has
        probability 0; or a fitted model that gives log p(observation): a `LanguageModel`; a distribution of SciPy, such
        as a Gaussian (`logpdf`, `logpmf`); a density of scikit-learn (`score_samples`); a generative classifier
        (`predict_joint_log_proba`, summed over its classes).
    normalise : bool
        Whether priors and tables are weights, such as counts, that are to be divided by their sum. By default they must
        sum to 1.

    Notes
    -----
    Where every number is a whole number, a `Fraction` or a `Decimal`, all answers are exact fractions, as long as
    Python can print them (4,300 digits, some thousand observations); `exact` says whether they are. Else, and beyond,
    they are doubles, worked out in logarithms, so that nothing underflows.

    Examples
    --------
    >>> coin = Hypotheses({"fair": 0.75, "biased": 0.25}, {"fair": {"Head": 0.5, "Tail": 0.5},
    ...                                                    "biased": {"Head": 0.6, "Tail": 0.4}})
    >>> round(coin.predict("Head"), 6)
    0.525
    >>> seen = coin.update("Head")
    >>> {name: round(p, 6) for name, p in seen.posterior.items()}
    {'fair': 0.714286, 'biased': 0.285714}
    >>> coin.update({"Head": 70, "Tail": 30}).map()
    'biased'

    Counts, as weights, give exact fractions:

    >>> boxes = Hypotheses({"red": 4, "white": 6}, {"red": {"apple": 2, "lemon": 4, "orange": 6},
    ...                                             "white": {"apple": 3, "lemon": 6, "orange": 1}}, normalise=True)
    >>> boxes.update("orange").posterior
    {'red': Fraction(10, 13), 'white': Fraction(3, 13)}
    """

    def __init__(self, priors: Any, likelihoods: Any, normalise: bool = False) -> None:
        if not isinstance(normalise, bool | np.bool_):
            raise KindError(f"normalise must be True or False, got {type(normalise).__name__} {normalise!r}")
        self._priors = _priors(priors, bool(normalise))
        self.names = tuple(self._priors)
        self._likelihoods = _likelihoods(self.names, likelihoods, bool(normalise))
        self._log_prior: Floats = np.array([log(p) for p in self._priors.values()])
        self._seen: Any = self._likelihoods.nothing()
        self._blocks: tuple[Steps, ...] = ()

    # Learning.

    def update(self, observation: Any) -> Self:
        """What is believed after one more observation, or several; these hypotheses stay as they are.

        Parameters
        ----------
        observation
            One observation (a string is one); a list, tuple, array, column or iterator of them; or a mapping from
            observation to how often it was made, which is one step of the trace for each. A tuple that a table knows as
            a value is one observation. Models take the rows of an array or of a table, too.
        """
        steps = self._likelihoods.read(observation)
        if not len(steps):
            return self
        _, places, logs = self._likelihoods.trace(steps)
        impossible = np.isneginf(logs[:, ~np.isneginf(self._log_joint)])[places]
        if impossible.any(axis=0).all():
            at = int(impossible.argmax(axis=0).max())
            made = self._beliefs(steps).observation(at + 1)
            raise InputError(
                f"observation {sum(map(len, self._blocks)) + at + 1}, {made!r}, is impossible: every hypothesis "
                "that was still possible gives it probability 0; check it, or give it some probability under one of "
                "them"
            )
        result = object.__new__(type(self))
        for name in ("_priors", "names", "_likelihoods", "_log_prior"):
            setattr(result, name, getattr(self, name))
        result._seen = self._likelihoods.add(self._seen, steps)
        blocks = self._blocks
        while blocks and len(blocks[-1]) <= len(steps):  # so there are few, and few are ever copied
            steps, blocks = blocks[-1].then(steps), blocks[:-1]
        result._blocks = (*blocks, steps)
        return result

    # Answering.

    @property
    def priors(self) -> dict[Any, Number]:
        """The probability of each hypothesis before any observation."""
        return dict(self._priors)

    @cached_property
    def _exactly(self) -> Exactly:
        """P(D | h), exactly; None where that cannot be, or would be too long."""
        if not all(isinstance(prior, Fraction) for prior in self._priors.values()):
            return None
        found: Exactly = self._likelihoods.exactly(self._seen)
        return found

    @cached_property
    def _log_likelihoods(self) -> Floats:
        return np.asarray(self._likelihoods.log_likelihoods(self._seen))

    @cached_property
    def _log_joint(self) -> Floats:
        return self._log_prior + self._log_likelihoods

    @property
    def exact(self) -> bool:
        """Whether answers are exact fractions."""
        return self._exactly is not None

    @property
    def likelihoods(self) -> dict[Any, Number]:
        """P(D | h): how probable each hypothesis makes all that was observed, in its order."""
        if self._exactly is not None:
            numerators, denominator = self._exactly
            return {name: Fraction(n, denominator) for name, n in zip(self.names, numerators)}
        return {name: exponential(each) for name, each in self.log_likelihoods.items()}

    @property
    def log_likelihoods(self) -> dict[Any, float]:
        """log P(D | h), where P(D | h) itself may be too small for a double."""
        return dict(zip(self.names, self._log_likelihoods.tolist()))

    @property
    def posterior(self) -> dict[Any, Number]:
        """P(h | D) of each hypothesis; the prior, as long as nothing was observed."""
        if self._exactly is not None:
            joint = [prior * n for prior, n in zip(self._priors.values(), self._exactly[0])]
            total = sum(joint)
            return {name: each / total for name, each in zip(self.names, joint)}
        return dict(zip(self.names, np.exp(self._log_joint - self.log_evidence).tolist()))

    @property
    def evidence(self) -> Number:
        """P(D) = Σ_h P(D | h) P(h): how probable all that was observed was, in its order."""
        if self._exactly is not None:
            numerators, denominator = self._exactly
            return sum((p * n for p, n in zip(self._priors.values(), numerators)), Fraction(0)) / denominator
        return exponential(self.log_evidence)

    @property
    def log_evidence(self) -> float:
        """log P(D), where P(D) itself may be too small for a double."""
        from scipy.special import logsumexp

        return float(logsumexp(self._log_joint))

    def map(self) -> Any:
        """The hypothesis of the largest posterior, argmax P(D | h) P(h); of equal ones the first."""
        if self._exactly is not None:
            posterior = self.posterior
            return max(posterior, key=lambda name: posterior[name])
        return self.names[int(np.argmax(self._log_joint))]

    def ml(self) -> Any:
        """The hypothesis of the largest likelihood, argmax P(D | h), whatever the priors; of equal ones the first."""
        if not self._blocks:
            raise InputError("nothing was observed yet, so every hypothesis is as likely as any other; update it first")
        if self._exactly is not None:
            return self.names[max(range(len(self.names)), key=self._exactly[0].__getitem__)]
        return self.names[int(np.argmax(self._log_likelihoods))]

    def predict(self, value: Any = _EVERY) -> Any:
        """P(value | D) = Σ_h P(value | h) P(h | D): the vote of all hypotheses, weighted by what is believed of them.

        Parameters
        ----------
        value : optional
            What may be observed next. Without it, a dictionary of every value that the tables have.
        """
        if value is _EVERY:
            if self._likelihoods.values is None:
                raise InputError("which values there are is known of tables only; name the value: predict(value)")
            beliefs = list(self.posterior.values())
            return {each: _vote(self._likelihoods.probabilities(each), beliefs) for each in self._likelihoods.values}
        return _vote(self._likelihoods.probabilities(value), list(self.posterior.values()))

    def classify(self) -> Any:
        """The Bayes-optimal answer, argmax_v Σ_h P(v | h) P(h | D), over the values of tables; of equal ones the first.

        The hypotheses vote, and the most probable one may be outvoted:

        >>> answers = {"h1": {"+": 1}, "h2": {"-": 1}, "h3": {"-": 1}}
        >>> voters = Hypotheses({"h1": 0.4, "h2": 0.3, "h3": 0.3}, answers)
        >>> voters.map(), voters.predict(), voters.classify()
        ('h1', {'+': 0.4, '-': 0.6}, '-')
        """
        table = self.predict()
        return max(table, key=lambda value: table[value])

    # Showing.

    @property
    def n_observations(self) -> int:
        """How many observations were made."""
        return sum(int(block.times.sum()) for block in self._blocks)

    def _beliefs(self, steps: Steps) -> Beliefs:
        labels, places, logs = self._likelihoods.trace(steps)
        return Beliefs(self.names, self._log_prior, labels, places, steps.times, logs)

    @property
    def trace(self) -> Beliefs:
        """Beliefs before any observation and after each: `trace[3]` is a dictionary, `print(trace)` a table."""
        steps = self._likelihoods.read([])
        for block in self._blocks:
            steps = steps.then(block)
        return self._beliefs(steps)

    def trace_table(self) -> Any:
        """The trace as an Arrow table: step, observation, times, and P(hypothesis) for each."""
        return self.trace.table()

    def plot(self, ax: Any = None) -> Any:
        """Draw the trace on matplotlib's axes, or on those of a new figure, which are returned."""
        return self.trace.plot(ax)

    def explain(self) -> Explanation:
        """The arithmetic: prior, likelihoods, product, and the division by the sum."""
        return Explanation(
            objects(list(self.names)),
            Factor("prior", "", tuple(_term(p, log(p)) for p in self._priors.values())),
            self._factors(),
            self._log_joint,
            np.array([float(p) for p in self.posterior.values()]),
        )

    def _factors(self) -> tuple[Factor, ...]:
        """A line for each different observation (of models: for each), the last ones together."""
        trace = self.trace
        times = np.zeros(len(trace.labels), np.int64)
        np.add.at(times, trace.places, trace.times)
        made = np.flatnonzero(times).tolist()
        most = len(made) if len(made) <= _LINES else _LINES - 1
        factors = []
        for place in made[:most]:
            n, logs = int(times[place]), trace.logs[place].tolist()
            values = self._likelihoods.columns[place] if self._likelihoods.columns else map(exponential, logs)
            terms = tuple(_term(p, each, n) for p, each in zip(values, logs))
            factors.append(Factor(shortened(trace.labels[place]), f"×{n:,}" if n > 1 else "", terms))
        if made[most:]:
            rest = times[made[most:]] @ trace.logs[made[most:]]
            terms = tuple(Term(f"{len(made) - most:,} factors", exponential(each), each) for each in rest.tolist())
            factors.append(Factor(f"… {len(made) - most:,} more", "", terms))
        return tuple(factors)

    def __str__(self) -> str:
        return str(self.explain())

    def _repr_html_(self) -> str:
        return self.explain()._repr_html_()

    def __repr__(self) -> str:
        best = sorted(self.posterior.items(), key=lambda pair: -pair[1])
        shown = ", ".join(f"{name} {float(p):.6g}" for name, p in best[:4]) + (", …" if len(best) > 4 else "")
        n = self.n_observations
        return f"<Hypotheses after {n:,} observation{'s' if n != 1 else ''}: {shown}>"


def _term(value: Number, log_value: float, times: int = 1) -> Term:
    """A factor that occurs so many times, as a person writes it."""
    fraction = isinstance(value, Fraction) and value.denominator > 1
    how = str(value) if fraction else f"{float(value):.6g}"
    if times > 1:
        how = f"({how})^{times}" if fraction else f"{how}^{times}"
    return Term(how if fraction or times > 1 else "", exponential(times * log_value), times * log_value)


def _vote(said: list[Number], beliefs: list[Number]) -> Number:
    """Σ_h P(v | h) P(h | D)."""
    if all(isinstance(each, Fraction) for each in (*said, *beliefs)):
        return sum((p * belief for p, belief in zip(said, beliefs)), Fraction(0))
    return math.fsum(float(p) * float(belief) for p, belief in zip(said, beliefs))


def _priors(given: Any, normalise: bool) -> dict[Any, Number]:
    """The probability of each hypothesis, checked."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise KindError(
            "priors must be a mapping from hypothesis to probability, or a list of hypotheses, "
            f"got {type(given).__name__} {given!r}"
        )
    if not isinstance(given, Mapping):
        names = list(given)
        for name in names:
            if not hashable(name):
                raise KindError(
                    f"{type(name).__name__} {name!r} can be no name of a hypothesis; give strings or numbers"
                )
        twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
        if twice is not None:
            raise InputError(f"the hypothesis {twice!r} is named twice; give each another name")
        given = {name: Fraction(1, len(names)) for name in names}
    if not given:
        raise InputError("there is no hypothesis; name one at least, with its prior")
    return shares(given, "the priors", normalise)


def _likelihoods(names: tuple[Any, ...], given: Any, normalise: bool) -> Any:
    """What each hypothesis says of an observation: `Tables`, or `Models`."""
    if not isinstance(given, Mapping):
        raise KindError(
            "likelihoods must be a mapping from hypothesis to a table or a fitted model, got "
            f"{type(given).__name__} {given!r}"
        )
    for one, other, lacks in ((names, given, "a prior and no likelihood"), (given, names, "a likelihood and no prior")):
        for name in one:
            if name not in other:
                raise InputError(f"the hypothesis {name!r} has {lacks}{did_you_mean(name, other)}")
    tables = [name for name in names if isinstance(given[name], Mapping)]
    if tables and len(tables) < len(names):
        other = next(name for name in names if name not in tables)
        raise InputError(f"{tables[0]!r} has a table and {other!r} has none; give one to all hypotheses, or to none")
    return Tables(names, given, normalise) if tables else Models(names, given)
