"""A finite set of hypotheses and what is believed of them: Bayes' rule, one observation or a million at a time.

P(h | D) = P(D | h) P(h) / Σ_h' P(D | h') P(h'),  log P(D | h) = Σ_v n_v log P(v | h)

Likelihoods come from tables, which are exact where all their numbers are rational, or from fitted models.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, check_choice, did_you_mean
from ingenuo.language import say
from ingenuo.rows.checks import check_flag
from ingenuo.show.arithmetic import Explanation, Factor, Term, exponential
from ingenuo.show.format import shortened
from ingenuo.show.plots import new_axes
from ingenuo.show.table import Block, PrintedTable, Translated
from ingenuo.tally.labels import objects

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Number = Fraction | float

# Fractions longer than Python prints (4,300 digits, 14,284 bits) help nobody: from there on doubles go on alone. Some
# bits are left for the priors, with which the likelihoods are multiplied in the end.
_LONGEST = 13_800
_TOLERANCE = 1e-9  # how far from 1 doubles may sum
_EVERY: Any = object()  # predict() without a value
_LINES = 12  # different observations that `explain` shows one by one
# So many steps and hypotheses are printed, so many lines drawn with their names, through so many points; as long as
# there are few steps, each is named on the axis.
_STEPS, _HYPOTHESES, _NAMED, _POINTS, _TICKS = 20, 8, 6, 1000, 12
_SPREAD = 100_000  # steps of the trace that counts are spread over, at most


@dataclass(frozen=True, eq=False, repr=False)
class Beliefs(Translated):
    """Beliefs before any observation, and after each step: `[i]` is a dictionary, `print` shows a table.

    >>> prior, logs = np.log([0.75, 0.25]), np.log([[0.5, 0.6], [0.5, 0.4]])
    >>> print(Beliefs(("fair", "biased"), prior, ["Head", "Tail"], logs, np.array([0]), np.array([1])))
    step  observation  fair      biased
    0                  0.750000  0.250000
    1     Head         0.714286  0.285714
    """

    names: tuple[Any, ...]
    log_prior: Floats
    labels: Sequence[Any]  # what can be observed: the values of tables; of models, what was
    logs: Floats  # log P(label | hypothesis), labels × hypotheses
    places: Whole  # for each step, which label was observed
    times: Whole  # and how often in a row

    def __len__(self) -> int:
        return len(self.places) + 1

    def __getitem__(self, step: int) -> dict[Any, float]:
        if not -len(self) <= step < len(self):
            raise IndexError(f"there is no step {step}; the trace has steps 0 to {len(self) - 1}")
        return dict(zip(self.names, self.at(np.array([step % len(self)]))[0].tolist()))

    def __iter__(self) -> Iterator[dict[Any, float]]:
        return (dict(zip(self.names, row.tolist())) for row in self.at(np.arange(len(self))))

    def at(self, steps: NDArray[Any]) -> Floats:
        """Beliefs after some of the steps: steps × hypotheses."""
        from scipy.special import softmax

        joint = np.empty((len(steps), len(self.names)))
        for h, log_prior in enumerate(self.log_prior):
            # In long doubles, where there are any: a million roundings of a large sum would show in the seventh digit.
            sums = np.cumsum(self.logs[self.places, h] * self.times, dtype=np.longdouble)
            joint[:, h] = np.append(0.0, sums)[steps] + log_prior
        return np.asarray(softmax(joint, axis=1))

    def observation(self, step: int) -> str:
        """What was observed at a step, and how often."""
        if step == 0:
            return ""
        times = int(self.times[step - 1])
        return shortened(self.labels[int(self.places[step - 1])], 40) + (f" ×{times:,}" if times > 1 else "")

    def _blocks(self) -> list[str | Block]:
        """Of many steps the first and the last, of many hypotheses those most believed in the end."""
        half, few = _STEPS // 2, len(self) <= _STEPS + 1
        steps = np.arange(len(self)) if few else np.concatenate([np.arange(half), np.arange(half) + len(self) - half])
        found = self.at(steps)
        chosen = _largest(found[-1], _HYPOTHESES)
        rows: list[list[Any]] = [[n, self.observation(n), *row[chosen]] for n, row in zip(steps.tolist(), found)]
        if not few:
            rows.insert(half, ["…", *[""] * (len(chosen) + 1)])
        heads = [say("step"), say("observation"), *(str(self.names[k]) for k in chosen)]
        hidden = len(self.names) - len(chosen)
        table = PrintedTable(heads, rows, ["", "", *[".6f"] * len(chosen)])
        return [table, say("({n} less probable hypotheses are not shown)", n=hidden)] if hidden else [table]

    def table(self) -> Any:
        """An Arrow table: step, observation, times, and P(hypothesis) for each."""
        import pyarrow as pa

        labels = pa.array([str(label) for label in self.labels], pa.string())
        observed = pa.concat_arrays([pa.nulls(1, pa.string()), labels.take(pa.array(self.places))])  # none at first
        steps = np.arange(len(self))
        columns = {"step": steps, "observation": observed, "times": np.append(0, self.times)}
        return pa.table(columns | {f"P({name})": column for name, column in zip(self.names, self.at(steps).T)})

    def plot(self, ax: Any = None) -> Any:
        """Draw each hypothesis' probability over the observations; the axes are returned.

        Of many hypotheses those that were most believed at some time have names, the others are grey.
        """
        ax = new_axes(ax)
        n = len(self)
        steps = np.unique(np.linspace(0, n - 1, min(n, _POINTS)).round().astype(np.intp))  # as many as can be seen
        seen = np.append(0, np.cumsum(self.times))  # observations before each step
        found = self.at(steps)
        named = _largest(found.max(axis=0), _NAMED)
        others = [k for k in range(len(self.names)) if k not in named]
        for k in named:
            marker = "o" if n <= 30 else ""
            ax.plot(seen[steps], found[:, k], marker=marker, markersize=4, label=str(self.names[k]), zorder=2)
        for k in others:
            label = f"{len(others)} others" if k == others[0] else None
            ax.plot(seen[steps], found[:, k], color="0.8", linewidth=0.8, label=label, zorder=1)
        top = 1.0 if found.max() > 0.5 else float(found.max())  # of very many hypotheses each has little
        ax.set(ylim=(-0.03 * top, 1.03 * top), ylabel="probability", xlabel="observations")
        if n - 1 <= _TICKS and int(seen[-1]) == n - 1:
            names = ["prior", *(self.observation(step) for step in range(1, n))]
            long = sum(map(len, names)) + 2 * len(names) > 55  # so many letters stand side by side
            ax.set_xticks(seen, names, rotation=30 if long else 0, ha="right" if long else "center")
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        return ax


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
        check_flag("normalise", normalise)
        self._priors = _read_priors(priors, bool(normalise))
        self.names = tuple(self._priors)
        # P(value | h) of each value that a table has, under each hypothesis; or the models, with the method to ask.
        self._tables, self._models = _read_likelihoods(self.names, likelihoods, bool(normalise))
        logs = [[_log(p) for p in column] for column in self._tables.values()]
        log_prior, none = np.array([_log(p) for p in self._priors.values()]), np.zeros(0, np.int64)
        self._places = {value: place for place, value in enumerate(self._tables)}
        self.trace = Beliefs(
            self.names, log_prior, list(self._tables), np.reshape(logs, (-1, len(self.names))), none, none
        )
        self._counts = np.zeros(len(self._tables), np.int64)  # how often each label of the trace was observed

    def update(self, observation: Any) -> Self:
        """What is believed after one more observation, or several; these hypotheses stay as they are.

        Parameters
        ----------
        observation
            One observation (a string is one); a list, tuple, array, column or iterator of them; or a mapping from
            observation to how often it was made. A mapping says nothing of the order: the trace has its observations
            evenly mixed, one in each step (if they are more than 100,000, several). A tuple that a table knows as a
            value is one observation. Models take the rows of an array or of a table, too.
        """
        items, times = _read_observations(observation, _is_hashable(observation) and observation in self._tables)
        before, labels = self.trace, len(self.trace.labels)
        if self._models:
            new = _ask_models(self._models, items, len(times))
            plain = not _is_table(items) and getattr(items, "ndim", 1) == 1
            called = list(items) if plain else [f"row {i}" for i in range(len(times))]
            trace = replace(before, labels=[*before.labels, *called], logs=np.concatenate([before.logs, new]))
            places = np.arange(labels, labels + len(times))
        else:
            trace, places = before, self._find(items)
        if not len(places):
            return self
        if isinstance(observation, Mapping):
            places, times = _spread(places, times)
        impossible = np.isneginf(trace.logs[:, ~np.isneginf(self._log_joint)])[places]
        if impossible.any(axis=0).all():
            at = int(impossible.argmax(axis=0).max())
            raise InputError(
                f"observation {len(before) + at}, {str(trace.labels[places[at]])!r}, is impossible: every hypothesis "
                "that was still possible gives it probability 0; check it, or give it some probability under one of "
                "them"
            )
        result = copy(self)
        places, times = np.append(before.places, places), np.append(before.times, times)
        result.trace = replace(trace, places=places, times=times)
        result._counts = np.append(self._counts, np.zeros(len(trace.labels) - labels, np.int64))
        np.add.at(result._counts, places[len(before) - 1 :], times[len(before) - 1 :])
        return result

    def _find(self, items: Any) -> Whole:
        """The places of observations among the values of the tables."""
        if _is_table(items):
            raise KindError(f"a {type(items).__name__} has several columns; give the one that holds the observations")
        items = items.tolist() if isinstance(items, np.ndarray) else list(items)
        for at, item in enumerate(items, 1):
            if not _is_hashable(item):
                raise KindError(f"{type(item).__name__} {item!r} can be no value of a table; give a value that it has")
            if item not in self._places:
                near = did_you_mean(item, self._tables)
                raise InputError(f"observation {at}, {item!r}, is in no table of the hypotheses{near}")
        return np.fromiter((self._places[item] for item in items), np.int64, len(items))

    @property
    def priors(self) -> dict[Any, Number]:
        """The probability of each hypothesis before any observation."""
        return dict(self._priors)

    def _exactly(self) -> list[Fraction] | None:
        """Π_v P(v | h)^n_v of each hypothesis; None where a number is no fraction, or the product is too long."""
        used = [(self._tables[value], n) for value, n in zip(self._tables, self._counts.tolist()) if n]
        numbers = (*self._priors.values(), *(p for column, _ in used for p in column))
        if (self._models and self.n_observations) or not _are_fractions(numbers):
            return None
        # A fraction grows by the bits of the common denominator of each value.
        bits = sum(n * math.log2(math.lcm(*(Fraction(p).denominator for p in column))) for column, n in used)
        if bits > _LONGEST:
            return None
        return [math.prod((Fraction(c[h]) ** n for c, n in used), start=Fraction(1)) for h in range(len(self.names))]

    @property
    def _log_likelihoods(self) -> Floats:
        made = self._counts > 0  # 0 · log 0 is 0 here
        return np.asarray(self._counts[made] @ self.trace.logs[made])

    @property
    def _log_joint(self) -> Floats:
        return self.trace.log_prior + self._log_likelihoods

    @property
    def exact(self) -> bool:
        """Whether answers are exact fractions."""
        return self._exactly() is not None

    @property
    def likelihoods(self) -> dict[Any, Number]:
        """P(D | h): how probable each hypothesis makes all that was observed, in its order."""
        return dict(zip(self.names, self._exactly() or map(exponential, self._log_likelihoods.tolist())))

    @property
    def log_likelihoods(self) -> dict[Any, float]:
        """log P(D | h), where P(D | h) itself may be too small for a double."""
        return dict(zip(self.names, self._log_likelihoods.tolist()))

    @property
    def posterior(self) -> dict[Any, Number]:
        """P(h | D) of each hypothesis; the prior, as long as nothing was observed."""
        exactly = self._exactly()
        if exactly is None:
            return dict(zip(self.names, np.exp(self._log_joint - self.log_evidence).tolist()))
        evidence = _vote(exactly, [*self._priors.values()])
        return {name: prior * p / evidence for (name, prior), p in zip(self._priors.items(), exactly)}

    @property
    def evidence(self) -> Number:
        """P(D) = Σ_h P(D | h) P(h): how probable all that was observed was, in its order."""
        exactly = self._exactly()
        return exponential(self.log_evidence) if exactly is None else _vote(exactly, [*self._priors.values()])

    @property
    def log_evidence(self) -> float:
        """log P(D), where P(D) itself may be too small for a double."""
        from scipy.special import logsumexp

        return float(logsumexp(self._log_joint))

    def map(self) -> Any:
        """The hypothesis of the largest posterior, argmax P(D | h) P(h); of equal ones the first."""
        found = self.posterior if self.exact else dict(zip(self.names, self._log_joint.tolist()))
        return max(found, key=found.__getitem__)

    def ml(self) -> Any:
        """The hypothesis of the largest likelihood, argmax P(D | h), whatever the priors; of equal ones the first."""
        if not self.n_observations:
            raise InputError("nothing was observed yet, so every hypothesis is as likely as any other; update it first")
        found = dict(zip(self.names, self._exactly() or self._log_likelihoods.tolist()))
        return max(found, key=found.__getitem__)

    def predict(self, value: Any = _EVERY) -> Any:
        """P(value | D) = Σ_h P(value | h) P(h | D): the vote of all hypotheses, weighted by what is believed of them.

        Parameters
        ----------
        value : optional
            What may be observed next. Without it, a dictionary of every value that the tables have.
        """
        beliefs = list(self.posterior.values())
        if value is _EVERY and self._models:
            raise InputError("which values there are is known of tables only; name the value: predict(value)")
        if value is _EVERY:
            return {each: _vote(column, beliefs) for each, column in self._tables.items()}
        if self._models:
            return _vote(np.exp(_ask_models(self._models, [value], 1)[0]).tolist(), beliefs)
        if not _is_hashable(value) or value not in self._tables:
            raise InputError(f"{value!r} is in no table of the hypotheses{did_you_mean(value, self._tables)}")
        return _vote(self._tables[value], beliefs)

    def classify(self) -> Any:
        """The Bayes-optimal answer, argmax_v Σ_h P(v | h) P(h | D), over the values of tables; of equal ones the first.

        The hypotheses vote, and the most probable one may be outvoted:

        >>> answers = {"h1": {"+": 1}, "h2": {"-": 1}, "h3": {"-": 1}}
        >>> voters = Hypotheses({"h1": 0.4, "h2": 0.3, "h3": 0.3}, answers)
        >>> voters.map(), voters.predict(), voters.classify()
        ('h1', {'+': 0.4, '-': 0.6}, '-')
        """
        table = self.predict()
        return max(table, key=table.__getitem__)

    @property
    def n_observations(self) -> int:
        """How many observations were made."""
        return int(self._counts.sum())

    def trace_table(self) -> Any:
        """The trace as an Arrow table: step, observation, times, and P(hypothesis) for each."""
        return self.trace.table()

    def plot(self, ax: Any = None) -> Any:
        """Draw the trace on matplotlib's axes, or on those of a new figure, which are returned."""
        return self.trace.plot(ax)

    def explain(self, *, form: str = "product", language: str = "en") -> Explanation:
        """The arithmetic: prior, likelihoods, their product (with form="log", the sum of logs), and the division.

        The language, "en", "it" or "es", is that of what is printed.
        """
        check_choice("form", form, ("product", "log"))
        prior = Factor(say("prior"), "", tuple(_term(p, _log(p)) for p in self._priors.values()))
        posterior = np.array([float(p) for p in self.posterior.values()])
        found = Explanation(objects(list(self.names)), prior, self._factors(), self._log_joint, posterior, form=form)
        return found.translate(language)

    def _factors(self) -> tuple[Factor, ...]:
        """A line for each different observation (of models: for each), the last ones together."""
        labels, logs, counts = self.trace.labels, self.trace.logs, self._counts
        made = np.flatnonzero(counts).tolist()
        most = len(made) if len(made) <= _LINES else _LINES - 1
        factors = []
        for place in made[:most]:
            n, own = int(counts[place]), logs[place].tolist()
            values = map(exponential, own) if self._models else self._tables[labels[place]]
            terms = tuple(_term(p, each, n) for p, each in zip(values, own))
            factors.append(Factor(shortened(labels[place], 40), f"×{n:,}" if n > 1 else "", terms))
        if made[most:]:
            rest = counts[made[most:]] @ logs[made[most:]]
            more = f"{len(made) - most:,}"
            terms = tuple(Term(say("{n} factors", n=more), exponential(each), each) for each in rest.tolist())
            factors.append(Factor(say("… {n} more", n=more), "", terms))
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


# Numbers, exact where they are rational.


def read_number(value: Any, what: str) -> Number:
    """A number that can be a probability or a density: whole numbers, fractions and decimals stay exact."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real | Decimal):
        raise KindError(f"{what} is {type(value).__name__} {value!r}; it must be a number")
    if (isinstance(value, Decimal) and not value.is_finite()) or not 0 <= value < math.inf:  # type: ignore[operator]
        raise InputError(f"{what} is {value!r}; it must be finite and not negative")
    if isinstance(value, Integral):
        return Fraction(int(value))
    return Fraction(value) if isinstance(value, Rational | Decimal) else float(value)


def _read_shares(given: Mapping[Any, Any], what: str, normalise: bool) -> dict[Any, Number]:
    """Probabilities that sum to 1 (fractions: exactly); with `normalise`, any weights, divided by their sum."""
    found = {name: read_number(value, f"{what}: that of {name!r}") for name, value in given.items()}
    exact = _are_fractions(found.values())
    total: Any = sum(found.values(), Fraction(0)) if exact else math.fsum(found.values())
    if normalise:
        if not total:
            raise InputError(f"{what} sum to 0, so they cannot be normalised; give one of them more")
        return {name: value / total for name, value in found.items()}
    if total != 1 and (exact or abs(total - 1) > _TOLERANCE):
        shown = str(total) if exact else f"{total:.12g}"
        raise InputError(f"{what} sum to {shown}; they must sum to 1: correct them, or give normalise=True")
    return found


def _are_fractions(values: Iterable[Any]) -> bool:
    return all(isinstance(value, Fraction) for value in values)


def _log(value: Number) -> float:
    """The logarithm of a number, of a fraction beyond the doubles too; log 0 = -inf."""
    if isinstance(value, Fraction) and 0 < value < Fraction(1, 1 << 1000):
        return math.log(value.numerator) - math.log(value.denominator)
    return math.log(value) if value > 0 else -math.inf


def _vote(likelihoods: Sequence[Number], beliefs: Sequence[Number]) -> Number:
    """Σ_h P(v | h) P(h | D)."""
    if _are_fractions((*likelihoods, *beliefs)):
        return sum((p * belief for p, belief in zip(likelihoods, beliefs)), Fraction(0))
    return math.fsum(float(p) * float(belief) for p, belief in zip(likelihoods, beliefs))


def _term(value: Number, log_value: float, times: int = 1) -> Term:
    """A factor that occurs so many times, as a person writes it."""
    fraction = isinstance(value, Fraction) and value.denominator > 1
    how = str(value) if fraction else f"{float(value):.6g}"
    if times > 1:
        how = f"({how})^{times}" if fraction else f"{how}^{times}"
    return Term(how if fraction or times > 1 else "", exponential(times * log_value), times * log_value)


def _largest(row: Floats, most: int) -> list[int]:
    """The places of the largest, in their order."""
    return sorted(np.argsort(-row, kind="stable")[:most].tolist())


# What is given: priors, likelihoods, observations.


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _read_priors(given: Any, normalise: bool) -> dict[Any, Number]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise KindError(
            "priors must be a mapping from hypothesis to probability, or a list of hypotheses, "
            f"got {type(given).__name__} {given!r}"
        )
    if not isinstance(given, Mapping):
        names = list(given)
        for place, name in enumerate(names):
            if not _is_hashable(name):
                raise KindError(f"{type(name).__name__} {name!r} cannot name a hypothesis; give strings or numbers")
            if name in names[:place]:
                raise InputError(f"the hypothesis {name!r} is named twice; give each another name")
        given = {name: Fraction(1, len(names)) for name in names}
    if not given:
        raise InputError("there is no hypothesis; name one at least, with its prior")
    return _read_shares(given, "the priors", normalise)


def _read_likelihoods(
    names: tuple[Any, ...], given: Any, normalise: bool
) -> tuple[dict[Any, list[Number]], dict[Any, tuple[Any, str]]]:
    """P(value | h) of each value in the tables (0 where a hypothesis does not name it); or the models and methods."""
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
    if not tables:
        return {}, {name: (given[name], _find_method(given[name], name)) for name in names}
    if len(tables) < len(names):
        other = next(name for name in names if name not in tables)
        raise InputError(f"{tables[0]!r} has a table and {other!r} has none; give one to all hypotheses, or to none")
    rows = [_read_shares(given[name], f"the probabilities under {name!r}", normalise) for name in names]
    return {value: [row.get(value, Fraction(0)) for row in rows] for row in rows for value in row}, {}


def _read_observations(given: Any, is_value: bool) -> tuple[Any, Whole]:
    """One observation, several, or how often each was made; and how often each was."""
    if isinstance(given, Mapping):
        for value, count in given.items():
            if isinstance(count, bool) or not isinstance(count, int | np.integer):
                raise KindError(
                    f"{value!r} was observed {count!r} times; give a whole number, or a list of observations"
                )
            if not 0 <= count < 1 << 53:
                raise InputError(f"{value!r} was observed {count} times; give a number from 0 to 2^53")
        made = {value: int(count) for value, count in given.items() if count}
        return list(made), np.array(list(made.values()), np.int64)
    one = is_value or isinstance(given, str | bytes | frozenset) or getattr(given, "ndim", 1) == 0
    if not one and isinstance(given, Iterator):
        given = list(given)
    several = not one and hasattr(given, "__getitem__") and hasattr(given, "__len__")  # a column or a table, too
    items = given if several else [given]
    return items, np.ones(len(items), np.int64)


def _spread(places: Whole, counts: Whole) -> tuple[Whole, Whole]:
    """Counts as steps, evenly mixed: the k-th of n of a kind stands at (k - 1/2)/n of the way."""
    each = -(-int(counts.sum()) // _SPREAD)  # observations in a step
    steps = -(-counts // each)
    kinds = np.repeat(np.arange(len(places)), steps)
    nth = np.arange(len(kinds)) - np.repeat(np.cumsum(steps) - steps, steps)
    times = np.minimum(counts[kinds] - nth * each, each)
    order = np.argsort((nth + 0.5) / steps[kinds], kind="stable")
    return places[kinds][order], times[order]


def _is_table(items: Any) -> bool:
    return hasattr(items, "columns") or hasattr(items, "column_names")


# Methods that give log p of each observation, in the order in which they are looked for; then what a model must have
# that is known by its `score`: only of a language model is that the logarithm of each text's probability.
_METHODS = ("logpdf", "logpmf", "score_samples", "predict_joint_log_proba")
_OF_TEXTS = ("score", "perplexity", "generate")


def _ask_models(models: Mapping[Any, tuple[Any, str]], items: Any, n: int) -> Floats:
    """log p of each observation by each model: observations × hypotheses."""
    logs = [_ask(model, method, items, n, name) if n else np.zeros(0) for name, (model, method) in models.items()]
    return np.stack(logs, axis=1)


def _find_method(model: Any, name: Any) -> str:
    """The method of a model that gives log p(observation)."""
    what = f"{type(model).__name__}, given for {name!r}"
    tags = model.__sklearn_tags__() if hasattr(model, "__sklearn_tags__") else None
    if getattr(tags, "estimator_type", None) == "outlier_detector":
        raise KindError(f"{what}, scores outliers, which is no density; give one such as KernelDensity")
    for method in _METHODS:
        if hasattr(model, method):
            return method
    if all(hasattr(model, method) for method in _OF_TEXTS):
        return "score"
    if hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        raise KindError(
            f"{what}, gives the probability of a label and not of an observation; weigh classifiers with "
            "BayesOptimalClassifier"
        )
    raise KindError(
        f"the likelihood of {name!r} is {type(model).__name__} {model!r}; give a table (a mapping from observation to "
        f"probability), or a fitted model that has one of {', '.join(_METHODS)}, or a LanguageModel"
    )


def _ask(model: Any, method: str, items: Any, n: int, name: Any) -> Floats:
    """log p of each observation by a fitted model."""
    if method == "score_samples" and not _is_table(items) and np.asarray(items).dtype.kind in "iufb":
        items = np.asarray(items).reshape(n, -1)  # numbers are a column to scikit-learn
    found = np.asarray(getattr(model, method)(items), np.float64)
    if method == "predict_joint_log_proba":  # p(x) = Σ_k P(k) p(x | k)
        from scipy.special import logsumexp

        found = logsumexp(found, axis=1)
    found = found.reshape(-1) if found.size == n else found
    if found.shape != (n,) or (np.isnan(found) | (found == np.inf)).any():
        what = f"an array of shape {found.shape}" if found.shape != (n,) else str(found[~(found < np.inf)][0])
        raise InputError(
            f"{type(model).__name__}.{method}, for {name!r}, gave {what} for {n} observations; it must give one "
            "logarithm for each, a number or -inf"
        )
    return found
