"""What would change an answer: the fewest columns, and in each the value nearest to the present one that suffices.

The log joint is a sum over columns, so what a value adds to a class's lead over each rival (its gain) is known by
itself. With two classes the fewest columns are the largest gains, added until the deficit is passed; with more classes
every rival must be passed, and sets of columns are tried until none smaller can be left. What columns do not add up is
tried value by value. Every suggestion has been asked of the model itself before it is made. The page's `changes.mjs`
follows the same laws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ingenuo.errors import InputError, KindError, did_you_mean
from ingenuo.rows.typed import reads_texts
from ingenuo.sheet.effects import Asked, Numbers, Range, Row, asked, bounded, on_step
from ingenuo.sheet.removal import Texts
from ingenuo.sheet.score.terms import NotPlain
from ingenuo.show.format import plain
from ingenuo.tally.labels import labels_of, objects, recognise

_NODES = 100_000  # of sets of columns that are tried
_LEAVES = 40  # sets that are looked at, of those that suffice
_GRID = 64  # values of a number where columns do not add up
_PAIRS = 3_000  # of values, where columns do not add up
_FEW = 12  # values of a column in pairs
_NEAR = 1e-9


class Move(NamedTuple):
    """A change of one column: its value before and after, other values that suffice too, and words taken out."""

    place: int
    to: Any
    edge: float | None = None
    others: Sequence[Any] = ()
    words: Sequence[str] | None = None
    sure: bool = True  # whether no fewer words would do


class Suggestion(NamedTuple):
    """Moves that give the class together, and what the answer is then."""

    moves: Sequence[Move]
    row: dict[str, Any]
    posterior: Numbers
    cost: float


class Found(NamedTuple):
    """How many columns must be changed, what can be, and what stands against "no fewer"."""

    fewest: int | None
    suggestions: Sequence[Suggestion]
    limit: str | None
    least: int | None


def changes(model: Any, row: Any, target: Any = None, *, locked: Collection[str] = (), most: int = 8) -> dict[str, Any]:
    """What would make a row of another class: the fewest columns, and the nearest values.

    Parameters
    ----------
    model : a fitted classifier or network, or what `asked` made of it
        Of a kind that has a sheet.
    row : mapping or text
        What it leaves out is missing.
    target : class, optional
        The class that it should be; by default the most probable of the others.
    locked : collection of str
        Columns that stay as they are.
    most : int
        How many suggestions to make at most.

    Returns
    -------
    dict
        "answer", "target"; "fewest", how many columns must be changed (None where no change is found, 0 where it is of
        the class already); "least", so many at least; "suggestions", each with its "moves" (of a number with the "edge"
        from which on it suffices), its "row", and the "posterior" of it; "limit", why fewer cannot be ruled out, or
        None: "calibrator", "tried", "words", "values".

    Examples
    --------
    >>> import ingenuo as ing
    >>> from ingenuo.datasets import play_tennis
    >>> model = ing.NaiveBayes().fit(play_tennis(), "Play")
    >>> found = changes(model, {"Outlook": "Sunny", "Humidity": "High"})
    >>> found["answer"], found["target"], found["fewest"]
    ('No', 'Yes', 1)
    >>> found["suggestions"][0]["moves"]
    [{'column': 'Outlook', 'from': 'Sunny', 'to': 'Overcast', 'others': []}]
    """
    whom = model if isinstance(model, Asked) else asked(model)
    if isinstance(row, str):
        if not reads_texts(whom.model):
            raise KindError(
                "a row is a mapping from column to value; a text is a row where the model reads texts alone"
            )
        row = {whom.columns[0]["name"]: row}
    names = [column["name"] for column in whom.columns]
    if isinstance(locked, str) or not all(isinstance(name, str) for name in locked):
        raise KindError("locked must be a list of names of columns")
    for name in locked:
        if name not in names:
            raise InputError(f"there is no column {name!r} to lock{did_you_mean(name, names)}")
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= 100:
        raise InputError(f"most is {most!r}; it must be a whole number from 1 to 100")
    order = targets(whom, row)
    _, posterior, best = whom.score(row)
    if target is not None:
        (wanted,) = recognise(labels_of(whom.classes), objects([target])).tolist()
        if wanted < 0:
            raise InputError(f"there is no class {target!r}{did_you_mean(target, whom.classes)}")
        wanted = whom.classes.index(labels_of(whom.classes).tolist()[wanted])
    elif not order:
        raise InputError("the model knows one class only, so nothing changes its answer")
    else:
        wanted = order[0]
    try:
        found = _Task(whom, row, wanted, best, set(locked)).find(most)
    except NotPlain:
        raise InputError("a text is too long to look for what would change the answer; give a part of it") from None
    return {
        "answer": plain(whom.classes[best]), "target": plain(whom.classes[wanted]), "posterior": posterior,
        "fewest": found.fewest, "least": found.least, "limit": found.limit,
        "suggestions": [_shown(whom, row, each) for each in found.suggestions],
    }  # fmt: skip


def targets(whom: Asked, row: Row) -> list[int]:
    """The other classes, the nearest first."""
    joint, posterior, best = whom.score(row)
    by = joint if joint is not None else [0.0] * len(posterior)
    return sorted((k for k in range(len(posterior)) if k != best), key=lambda k: (-posterior[k], -by[k], k))


def _shown(whom: Asked, row: Row, found: Suggestion) -> dict[str, Any]:
    moves = []
    for move in found.moves:
        own = {"column": whom.columns[move.place]["name"], "from": plain(whom.present(row, move.place))}
        own |= {"to": plain(move.to), "others": plain(list(move.others))}
        own |= {} if move.edge is None else {"edge": move.edge}
        moves.append(own if move.words is None else own | {"words": list(move.words)})
    return {"moves": moves, "row": plain(found.row), "posterior": list(found.posterior)}


class _Option(NamedTuple):
    value: Any
    gains: Numbers


class _Item(NamedTuple):
    place: int
    options: list[_Option]
    worth: float


class _Task:
    """The search for a row and a class."""

    def __init__(self, whom: Asked, row: Row, target: int, best: int, locked: set[str]) -> None:
        self.whom, self.row, self.target, self.best = whom, dict(row), target, best
        self.free = [place for place, column in enumerate(whom.columns) if column["name"] not in locked]
        self.rivals = [k for k in range(len(whom.classes)) if k != target]
        self._texts = Texts(whom, self.row, target, best)
        self.inexact: str | None = None  # why fewer cannot be excluded
        if not whom.additive:
            return
        self.joint = self._joint(self.row)
        self.of = whom.posterior_by(row)
        repair = whom.node.get("calibrate")
        if repair and len(whom.classes) > 2 and (len(repair["curves"]) or len(repair["groups"])):
            self.inexact = "calibrator"
        self.needs = [self._lead(k) - (self.joint[target] - self.joint[k]) for k in self.rivals]

    def find(self, most: int) -> Found:
        """The fewest columns."""
        if self.best == self.target:
            return Found(0, [], None, 0)
        singles = [move for place in self.free if (move := self._single(place)) is not None]
        if singles:
            found = sorted((self._suggest([move]) for move in singles), key=lambda each: each.cost)
            return Found(1, found[:most], _limit_of(found), 1)
        return self._sets(most) if self.whom.additive else self._pairs(most)

    def _joint(self, row: Row) -> Numbers:
        """The joint of a row, in which every log 0 is bounded by itself."""
        found = list(self.whom.start)
        for place in range(len(self.whom.columns)):
            found = [each + own for each, own in zip(found, self._effect(place, self.whom.present(row, place)))]
        return found

    def _effect(self, place: int, value: Any) -> Numbers:
        """What a value adds."""
        if value is None:
            return [0.0] * len(self.whom.classes)
        return [bounded(each) for each in self.whom.effect_of(place)(value)]

    def _lead(self, rival: int) -> float:
        """By how much the target's joint must be above a rival's: 0 before calibration, which may set it elsewhere."""
        of = self.of
        if not self.whom.calibrated or of is None or self.inexact == "calibrator":
            return 0.0

        def wins(lead: float) -> bool:
            joint = [-1e6] * len(self.whom.classes)
            joint[rival], joint[self.target] = 0.0, lead
            p = of(joint)
            return p[self.target] >= p[rival] if self.target < rival else p[self.target] > p[rival]

        low, high = -1000.0, 1000.0
        if wins(low):
            return low
        if not wins(high):
            return high
        return _bisect(low, high, wins, 80)

    def _suffices(self, row: Row) -> bool:
        """Whether a row is given the target."""
        return self.whom.score(row)[2] == self.target

    def _would(self, joint: Numbers) -> bool:
        """Whether a joint would be, up to rounding."""
        by = self.of(joint) if self.whom.calibrated and self.of is not None else joint
        return by.index(max(by)) == self.target

    def _with(self, values: Iterable[tuple[int, Any]], row: Row | None = None) -> dict[str, Any]:
        return self.whom.changed(self.row if row is None else row, values)

    def _gains(self, before: Numbers, after: Numbers) -> Numbers:
        up = after[self.target] - before[self.target]
        return [up - (after[k] - before[k]) for k in self.rivals]

    @cached_property
    def _tables(self) -> dict[int, tuple[list[Any], list[Numbers]]]:
        return {}

    def _table(self, place: int) -> tuple[list[Any], list[Numbers]]:
        """The values of a column that are tried, and what they add."""
        if place not in self._tables:
            values = self._values(place)
            self._tables[place] = values, [self._effect(place, value) for value in values]
        return self._tables[place]

    def _values(self, place: int) -> list[Any]:
        column, range_ = self.whom.columns[place], self.whom.range(place)
        own: list[Any] = plain(column["values"]) if column.get("values") is not None else []
        if column["kind"] == "text":
            return []
        if column["kind"] == "category":
            return own
        if range_ is None:
            return own
        if column["kind"] == "count":
            return self.whom.presence(place) or [float(x) for x in range(int(range_.high) + 1)]
        if not self.whom.additive:
            width = range_.high - range_.low
            return [on_step(range_.low + width * at / _GRID, range_.step) for at in range(_GRID + 1)]
        shape = self.whom.shape(place)
        isolated = [x for x in shape.isolated if range_.low <= x <= range_.high]
        if range_.whole or not shape.between:
            first, last = math.ceil(range_.low), min(math.floor(range_.high), math.ceil(range_.low) + 1999)
            whole = [float(x) for x in range(first, last + 1)] if range_.whole and shape.between else []
            return sorted({*isolated, *whole})
        return sorted({*isolated, *shape.knots})

    # Columns that suffice by themselves, each with the value nearest to the present one that does.

    def _single(self, place: int) -> Move | None:
        if self.whom.columns[place]["kind"] == "text":
            taken = self._texts.fewest(place)
            return None if taken is None else Move(place, taken.text, words=taken.words, sure=taken.sure)
        if not self.whom.additive:
            return self._tried(place)
        if self.inexact is None:
            effects, before = self._table(place)[1], self._effect(place, self.whom.present(self.row, place))
            most = [-math.inf] * len(self.rivals)
            for each in effects:
                most = [max(own, gain) for own, gain in zip(most, self._gains(before, each))]
            # With two classes the best value decides; with more, no value can do more against each than its best.
            if any(gain < need - _NEAR * (1 + abs(need)) for gain, need in zip(most, self.needs)):
                return None
        return self._nearest(place, self.row, self.joint)

    def _nearest(self, place: int, row: Row, joint: Numbers) -> Move | None:
        """The value of a column nearest to the present one that suffices in a row, of which the joint is known."""
        old = self.whom.present(row, place)
        before, (values, effects) = self._effect(place, old), self._table(place)

        def would(effect: Numbers) -> bool:
            return self._would([each + to - own for each, to, own in zip(joint, effect, before)])

        def asks(value: Any) -> bool:
            return self._suffices(self._with([(place, value)], row))

        start = self.whom.present(self.row, place)
        if self.whom.columns[place]["kind"] == "category":
            good = [at for at, each in enumerate(values) if str(each) != str(start) and would(effects[at])]

            def gain(at: int) -> float:
                return min(min(each, 1e9) - need for each, need in zip(self._gains(before, effects[at]), self.needs))

            passing = [values[at] for at in sorted(good, key=lambda at: -gain(at)) if asks(values[at])]
            return Move(place, passing[0], others=passing[1:]) if passing else None
        range_ = self.whom.range(place)
        middle = self._centre(place) if start is None or isinstance(start, str) else float(start)
        number = self.whom.columns[place]["kind"] == "number"
        if not number or not self.whom.shape(place).between or range_ is None or range_.whole:
            near = [at for at, each in enumerate(values) if each != start and would(effects[at])]
            found = next(
                (values[at] for at in sorted(near, key=lambda at: abs(values[at] - middle)) if asks(values[at])), None
            )
            return None if found is None else Move(place, found, edge=found)
        edge = self._edge(
            place, start, middle, lambda x: would(self._effect(place, x)), lambda at: would(effects[at]), before
        )
        return None if edge is None else self._readable(place, range_, *edge, asks, middle)

    def _edge(
        self, place: int, start: Any, middle: float, at_value: Callable[[float], bool], at_knot: Callable[[int], bool],
        before: Numbers,
    ) -> tuple[float, int] | None:  # fmt: skip
        """The number nearest to the middle that suffices, and on which side of it others do."""
        knots, nearest = self._table(place)[0], None
        for at, x in enumerate(knots):
            if x != start and (nearest is None or abs(x - middle) < abs(nearest[0] - middle)) and at_knot(at):
                nearest = x, 0
        inward = -1 if self._centre(place) < middle else 1
        for side in (inward, -inward):
            last = middle
            for x in sorted((x for x in knots if side * (x - middle) > 0), key=lambda x: side * x):
                if nearest is not None and abs(last - middle) >= abs(nearest[0] - middle):
                    break
                inside = self._first_inside(place, last, x, side, before, at_value)
                if inside is not None:
                    if nearest is None or abs(inside - middle) < abs(nearest[0] - middle):
                        nearest = inside, side
                    break
                last = x
        if start is None and at_value(middle):
            nearest = middle, 0
        return nearest

    def _centre(self, place: int) -> float:
        column, priors = self.whom.columns[place], [float(each) for each in self.whom.sheet.priors]
        if isinstance(column.get("typical"), int | float):
            return float(column["typical"])
        low, high = float(column.get("low", 0.0)), float(column.get("high", 0.0))
        means = [float(each) for each in column["means"]] if column.get("means") is not None else []
        known = [(own, mean) for own, mean in zip(priors, means) if math.isfinite(mean)]
        total = sum(own for own, _ in known)
        return sum(own * mean for own, mean in known) / total if total > 0 else (low + high) / 2

    def _first_inside(
        self, place: int, a: float, b: float, side: int, before: Numbers, at_value: Callable[[float], bool]
    ) -> float | None:
        """The first number behind `a` and up to `b` that suffices; values that stand by themselves are not within."""
        size = abs(b - a)
        begin = a + side * min(size * 1e-6, abs(a) * 1e-15 + 1e-300)
        end = b - side * min(size * 1e-6, abs(b) * 1e-15 + 1e-300)
        if at_value(begin):
            return begin
        if at_value(end):
            return _bisect(begin, end, at_value)
        if len(self.rivals) < 2:
            return None
        # Against some rivals it may suffice up to a number, against others from one on: between those two, if any.
        low, high = begin, end
        for k, need in zip(self.rivals, self.needs):

            def against(x: float, k: int = k, need: float = need) -> bool:
                to = self._effect(place, x)
                return to[self.target] - before[self.target] - (to[k] - before[k]) >= need

            first, last = against(begin), against(end)
            if not first and not last:
                return None
            if not first:
                edge = _bisect(begin, end, against)
                low = edge if side * (edge - low) > 0 else low
            elif not last:
                edge = _bisect(end, begin, against)
                high = edge if side * (edge - high) < 0 else high
        if side * (high - low) < 0:
            return None
        inside = low + (high - low) / 2
        return _bisect(begin, inside, at_value) if at_value(inside) else None

    def _readable(
        self, place: int, range_: Range, edge: float, side: int, asks: Callable[[Any], bool], middle: float
    ) -> Move | None:
        """The edge as it is, and the next number behind it with few digits that suffices too."""
        out = side or (-1 if edge < middle else 1)
        sure, grow = edge, abs(edge) * 2.0**-52 + 1e-300
        for _ in range(40):
            if asks(sure):
                break
            sure, grow = edge + out * grow, grow * 2
        if not asks(sure):
            return None
        if range_.step > 0 and side != 0:
            for far in range(3):
                value = on_step(edge + out * far * range_.step, range_.step, math.ceil if out > 0 else math.floor)
                if asks(value):
                    return Move(place, value, edge=sure)
        return Move(place, sure, edge=sure)

    def _cost(self, move: Move) -> float:
        """What a change costs a reader: shares of a range, categories as half of one; what is unknown comes last."""
        start, range_ = self.whom.present(self.row, move.place), self.whom.range(move.place)
        if move.words:
            return len(move.words) / 10
        category = self.whom.columns[move.place]["kind"] == "category"
        width = 0.0 if range_ is None else range_.high - range_.low
        if start is None:
            return 2.0 + (
                abs(move.to - self._centre(move.place)) / width if range_ is not None and not category else 0.0
            )
        if category or range_ is None or isinstance(start, str):
            return 0.5
        return float(abs(move.to - start) / width)

    def _suggest(self, moves: Sequence[Move]) -> Suggestion:
        row = self._with((move.place, move.to) for move in moves)
        return Suggestion(moves, row, self.whom.score(row)[1], sum(map(self._cost, moves)))

    # Sets of columns, the smallest first.

    def _sets(self, most: int) -> Found:
        items, rivals = self._items(), range(len(self.rivals))
        wanted = [need - _NEAR * (1 + abs(need)) for need in self.needs]
        best = [[max(0.0, *(option.gains[r] for option in item.options)) for r in rivals] for item in items]
        if not items or any(sum(each[r] for each in best) < wanted[r] for r in rivals):
            return Found(None, [], self.inexact, None)
        least, limit, nodes = 2, self.inexact, 0
        for m in range(2, len(items) + 1):
            tops = _tops(best, m)
            if any(tops[0][r][m] < wanted[r] for r in rivals):
                least = m + 1
                continue
            leaves, nodes = self._leaves(items, tops, wanted, m, nodes)
            found, seen = list[Suggestion](), set[tuple[int, ...]]()
            for _, chosen in sorted(leaves, key=lambda leaf: -leaf[0]):
                name = tuple(place for place, _ in chosen)
                if len(found) < most and name not in seen and (made := self._drawn_back(chosen)) is not None:
                    seen.add(name)
                    found.append(made)
            if nodes >= _NODES:
                limit = limit or "tried"
            if found:
                found.sort(key=lambda each: each.cost)
                return Found(m, found, limit or _limit_of(found), least if limit == "tried" else m)
            if nodes >= _NODES:
                return Found(None, [], limit, least)
            least = m + 1
        return Found(None, [], limit, None)

    def _leaves(
        self, items: list[_Item], tops: list[list[Numbers]], wanted: Numbers, m: int, nodes: int
    ) -> tuple[list[tuple[float, list[tuple[int, Any]]]], int]:
        """Sets of m columns that suffice, each with how far it goes beyond; and how many were tried."""
        leaves: list[tuple[float, list[tuple[int, Any]]]] = []
        chosen: list[tuple[int, Any]] = []
        rivals = range(len(wanted))

        def descend(first: int, sums: Numbers) -> None:
            nonlocal nodes
            if len(leaves) >= _LEAVES or nodes >= _NODES:
                return
            left = m - len(chosen)
            if left == 0:
                if all(sums[r] >= wanted[r] for r in rivals):
                    leaves.append((min(own - need for own, need in zip(sums, self.needs)), list(chosen)))
                return
            for at in range(first, len(items) - left + 1):
                if any(sums[r] + tops[at][r][left] < wanted[r] for r in rivals):
                    break
                for option in items[at].options:
                    nodes += 1
                    chosen.append((items[at].place, option.value))
                    descend(at + 1, [own + gain for own, gain in zip(sums, option.gains)])
                    chosen.pop()

        descend(0, [0.0] * len(wanted))
        return leaves, nodes

    def _items(self) -> list[_Item]:
        """The columns that can help, those that help most first, each with the values that no other is better than."""
        found = []
        for place in self.free:
            start = self.whom.present(self.row, place)
            before = self._effect(place, start)
            if self.whom.columns[place]["kind"] == "text":
                text = self._texts.without_hostile(place)
                options = (
                    [] if text is None else [_Option(text, self._gains(before, self._effect(place, text or None)))]
                )
            else:
                values, effects = self._table(place)
                pairs = [(value, own) for value, own in zip(values, effects) if str(value) != str(start)]
                options = [_Option(value, self._gains(before, own)) for value, own in pairs]
            options = [each for each in options if any(gain > 0 for gain in each.gains)]
            if len(self.rivals) == 1:
                options = sorted(options, key=lambda each: -each.gains[0])[:1]
            else:
                options = [each for at, each in enumerate(options) if not _is_beaten(at, options)]
            options.sort(key=lambda each: -self._worth(each))
            if options:
                found.append(_Item(place, options, self._worth(options[0])))
        return sorted(found, key=lambda item: -item.worth)

    def _worth(self, option: _Option) -> float:
        return min(gain / need if need > 0 else 1.0 for gain, need in zip(option.gains, self.needs))

    def _drawn_back(self, chosen: Sequence[tuple[int, Any]]) -> Suggestion | None:
        """A set of values that suffices, each drawn back towards the present one as far as the others allow.

        Words first, then all numbers by the same share of their way, and then each by itself.
        """
        values = dict(chosen)

        def row() -> dict[str, Any]:
            return self._with(values.items())

        if not self._suffices(row()):
            return None
        words: dict[int, Move] = {}
        for place, _ in chosen:
            if self.whom.columns[place]["kind"] == "text":
                taken = self._texts.put_back(place, row())
                words[place] = Move(place, taken.text, words=taken.words, sure=taken.sure)
                values[place] = taken.text
        self._draw_numbers_back(values, row)
        moves: dict[int, Move] = {}
        for place, _ in chosen:
            if place in words:
                moves[place] = words[place]
                continue
            category, now = self.whom.columns[place]["kind"] == "category", row()
            found = self._nearest(place, now, self._joint(now))
            value = values[place]
            if category:
                value = found.to if found is not None and not found.others else value
            elif found is not None and self._cost(found) <= self._cost(Move(place, value)):
                value = found.to
            values[place] = value
            moves[place] = Move(place, value)
        made = list(moves.values())
        return self._suggest(made) if self._suffices(self._with((each.place, each.to) for each in made)) else None

    def _draw_numbers_back(self, values: dict[int, Any], row: Callable[[], dict[str, Any]]) -> None:
        ways: list[tuple[int, float, float, Range]] = []
        for place, value in values.items():
            range_ = self.whom.range(place)
            number = self.whom.columns[place]["kind"] == "number" and self.whom.shape(place).between
            if number and range_ is not None and not range_.whole:
                start = self.whom.present(self.row, place)
                ways.append((place, value, self._centre(place) if start is None else float(start), range_))
        if not ways:
            return

        def suffices(part: float) -> bool:
            moved = ((place, start + part * (value - start)) for place, value, start, _ in ways)
            return self._suffices(self._with(moved, row()))

        good = _bisect(0.0, 1.0, suffices, 30)
        values.update({place: start + good * (value - start) for place, value, start, _ in ways})
        for place, _, start, range_ in ways:
            way = math.ceil if values[place] > start else math.floor
            near = on_step(values[place], range_.step, way)
            if self._suffices(self._with([(place, near)], row())):
                values[place] = near

    # Where columns do not add up.

    def _tried(self, place: int) -> Move | None:
        """Every value of a column, or of a number those on a grid, and then the edge."""
        start, range_ = self.whom.present(self.row, place), self.whom.range(place)

        def asks(value: Any) -> bool:
            return self._suffices(self._with([(place, value)]))

        passing = [value for value in self._values(place) if str(value) != str(start) and asks(value)]
        if not passing:
            return None
        if self.whom.columns[place]["kind"] == "category":
            return Move(place, passing[0], others=passing[1:])
        middle = self._centre(place) if start is None or isinstance(start, str) else float(start)
        value = min(passing, key=lambda each: abs(each - middle))
        if self.whom.columns[place]["kind"] == "count" or range_ is None or range_.whole or start is None:
            return Move(place, value, edge=value)
        side = (value > middle) - (value < middle)
        bad = value - side * min(abs(value - middle), (range_.high - range_.low) / _GRID)
        good = _bisect(bad, value, asks, 60)
        side = (good > middle) - (good < middle)
        return self._readable(place, range_, good, side, asks, middle) or Move(place, value, edge=value)

    def _pairs(self, most: int) -> Found:
        """Values of two columns."""
        choices: list[tuple[float, int, Any]] = []
        every = True  # values, and then pairs, are tried
        for place in self.free:
            kind = self.whom.columns[place]["kind"]
            every = every and kind == "category"
            if kind == "text":
                continue
            values = self._values(place)
            few = values[:: math.ceil(len(values) / _FEW)] if len(values) > _FEW else values
            every = every and len(few) == len(values)
            for value in few:
                if str(value) != str(self.whom.present(self.row, place)):
                    posterior = self.whom.score(self._with([(place, value)]))[1]
                    choices.append((posterior[self.target], place, value))
        choices.sort(key=lambda each: -each[0])
        found: dict[tuple[int, ...], Suggestion] = {}
        asked_, passed = 0, 0
        for i in range(1, len(choices)):
            for j in range(i):
                moves = [Move(place, value) for _, place, value in (choices[j], choices[i])]
                if moves[0].place == moves[1].place:
                    continue
                if asked_ >= _PAIRS or passed >= _LEAVES:
                    break
                asked_ += 1
                if self._suffices(self._with((move.place, move.to) for move in moves)):
                    passed += 1
                    found.setdefault(tuple(sorted(move.place for move in moves)), self._suggest(moves))
        every = every and asked_ < _PAIRS
        suggestions = sorted(found.values(), key=lambda each: each.cost)
        least = 2 if suggestions or not every else 3
        return Found(2 if suggestions else None, suggestions[:most], None if every else "values", least)


def _bisect(bad: float, good: float, test: Callable[[float], bool], steps: int = 200) -> float:
    """The first number on the way from one that fails that passes."""
    for _ in range(steps):
        middle = bad + (good - bad) / 2
        if middle in (bad, good):
            break
        if test(middle):
            good = middle
        else:
            bad = middle
    return good


def _tops(best: list[Numbers], m: int) -> list[list[Numbers]]:
    """The most that up to m columns from the i-th on can add against each rival."""
    rivals = range(len(best[0]))
    lists: list[Numbers] = [[] for _ in rivals]
    found: list[list[Numbers]] = [[[0.0] * (m + 1) for _ in rivals]]
    for own in reversed(best):
        sums = []
        for r in rivals:
            lists[r] = sorted([*lists[r], own[r]], reverse=True)[:m]
            total = [0.0]
            for n in range(m):
                total.append(total[-1] + (lists[r][n] if n < len(lists[r]) else 0.0))
            sums.append(total)
        found.append(sums)
    return found[::-1]


def _is_beaten(at: int, options: Sequence[_Option]) -> bool:
    """Whether another value is as good against every rival, and better against one, or comes before."""
    own = options[at].gains
    for j, other in enumerate(options):
        as_good = j != at and all(gain >= mine for gain, mine in zip(other.gains, own))
        if as_good and (j < at or any(gain > mine for gain, mine in zip(other.gains, own))):
            return True
    return False


def _limit_of(found: Sequence[Suggestion]) -> str | None:
    unsure = any(move.words and len(move.words) > 1 and not move.sure for each in found for move in each.moves)
    return "words" if unsure else None
