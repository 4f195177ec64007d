"""`ingenuo network`: learn a network from a file, show it, ask it, classify by it, draw it, convert it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from ingenuo.cli import options
from ingenuo.cli.options import JSON, check_inputs, option
from ingenuo.show.svg import ENDINGS


@click.group("network", short_help=options.COMMANDS["network"])
def network() -> None:
    """Bayesian networks: learn one from a table, show it, ask it, classify rows, draw it, convert its file.

    Network files are .bif, .xml (XMLBIF), .yaml, each perhaps with .gz behind, or .ingenuo, which keeps the counts as
    well; .json is read too. One that says which node is the class (`target: play` in YAML) is a MODEL for predict,
    explain and evaluate.
    """


_NETWORK = click.argument("path", type=click.Path(), metavar="NETWORK")
_KNOWN = (
    option(
        "--given EVIDENCE...",
        "What is known: NODE=STATE, NODE!=STATE, NODE=A|B (one of these), or NODE~A:0.7,B:0.3 (likelihoods).",
    ),
    option("--do NODE=STATE...", "What is set, whatever would have caused it.", "done"),
)


@options.command(
    "learn",
    click.argument("data", type=click.Path()),
    option("-o --output", "Where to write the network.", type=click.Path(), required=True),
    option(
        "--structure NAME",
        "How to search: hill-climb, k2, chow-liu, tan, kdb or naive; or a network FILE, whose arcs are taken.",
        default="hill-climb",
    ),
    option("--target TEXT", "The class: tan, kdb and naive need one, and numbers are cut by it."),
    option("--score bic|bdeu|k2|aic", "What is climbed  [bic; k2 for k2]"),
    option("--ess", "Imaginary rows of the BDeu score.", type=float, default=1.0),
    option("--max-parents", "The most parents a node may have.", type=int),
    option("--order NODE...", "Of k2, the nodes in their order, one option each."),
    option("--root TEXT", "Of tan and chow-liu, where the tree begins."),
    option("--k", "Of kdb, the parents in addition to the class.", type=int, default=2),
    option("--tabu", "How many steps downhill are tried.", type=int, default=10),
    option("--restarts", "How often the search begins again.", type=int, default=8),
    option("--seed", "Of restarts, and of filling missing values.", "random_state", type=int, default=0),
    option("--require FROM TO", "An arc that must be there.", "required", nargs=2, multiple=True),
    option("--forbid FROM TO", "An arc that must not.", "forbidden", nargs=2, multiple=True),
    option("--column NAME=KIND...", "category, number or ignore.", "columns"),
    option("--smoothing", "Imaginary rows in each cell of a table.", type=float, default=1.0),
    option("--missing leave-out|em", "What to do with missing values when tables are learned.", default="leave-out"),
    option("--path", "Print every step of the search.", "show_path"),
    of=network,
)
def learn(data: str, output: str, structure: str, smoothing: float, show_path: bool, **given: Any) -> None:
    """Learn a network from a table and write it to a file.

    \b
    ingenuo network learn patients.csv -o patients.yaml
    ingenuo network learn patients.csv -o patients.ingenuo --structure tan --target outcome
    ingenuo network learn patients.csv -o patients.bif --score bdeu --require age outcome --forbid outcome sex
    """
    check_inputs(data)
    from ingenuo.networks.files import is_network_file
    from ingenuo.networks.network import Network
    from ingenuo.rows.files.scan import read
    from ingenuo.tally.prior import Lidstone

    options.check_writable(output, [data, structure])
    _check_writable(output)
    given |= {"columns": options.kinds(given), "order": given["order"] or None}
    chosen = Network.read(structure) if is_network_file(structure) else structure
    with options.watched(None, "learning"):
        found = Network.learn(read(data), chosen, prior=Lidstone(smoothing), **given)
    found.name = Path(data).name.split(".")[0]
    _write(found, output)
    if found.search is not None:
        options.say(str(found.search) if show_path else str(found.search).splitlines()[0])
    options.say(f"{found}\nwritten to {output}")


@options.command(
    "show",
    _NETWORK,
    click.argument("nodes", nargs=-1),
    option("-o --output FILE", f"Where to write it, by its ending: {', '.join(options.TABLES)}  [standard output]"),
    JSON,
    of=network,
)
def show(path: str, nodes: tuple[str, ...], output: str | None, as_json: bool) -> None:
    """Show the graph of a network; or the tables of NODES.

    \b
    ingenuo network show asia.bif
    ingenuo network show asia.bif lung dysp
    ingenuo network show asia.bif lung -o lung.md
    """
    form = options.form_of(output, "json" if as_json else None, options.TABLES)
    options.check_writable(output, [path])
    found = _read(path)
    options.write(getattr(found.shown(*nodes) if nodes else found, f"to_{form}")(), output)


@options.command(
    "classify",
    _NETWORK,
    click.argument("file", type=click.Path(), required=False, metavar="[FILE]"),
    option("--target NODE", "The node that is the class  [as the network says]"),
    option("--row TEXT", "One row, 'NODE=STATE, NODE=STATE': the product of the tables' entries is shown."),
    option("-o --output FILE", "Where to write the rows of FILE with their classes  [standard output]"),
    option("--all", "The probability of every class.", "all_classes"),
    options.READING,
    JSON,
    of=network,
)
def classify(path: str, file: str | None, target: str | None, row: str | None, **given: Any) -> None:
    """Classify rows by a network with tables, an expert's or a learned one.

    P(class | row) is the product of one entry of each table, divided by the sum over the classes. What is missing is
    summed out; so is a state that the network does not have, and stderr counts those.

    \b
    ingenuo network classify weather.yaml --target play --row 'outlook=rainy, windy=true'
    ingenuo network classify weather.yaml days.csv --target play -o answers.csv
    """
    if (file is None) == (row is None):
        raise click.UsageError("give a row by --row, or a FILE")
    options.check_writable(given["output"], [path, *([file] if file else [])])
    check_inputs(path, files=[file], given=given)
    from ingenuo.cli.commands.predict import answer
    from ingenuo.models.network_classifier import NetworkClassifier
    from ingenuo.rows.typed import parse_row

    model = NetworkClassifier.from_network(_read(path), target)
    if file is None:
        options.show(model.explain(parse_row(str(row), model)), given["as_json"])
        return
    how = {"to": "jsonl" if given["as_json"] else None, "digits": None, "reasons": 0, "spreadsheet_safe": False}
    answer(model, (file,), None, given["output"], False, given | how)


@options.command(
    "query",
    _NETWORK,
    click.argument("nodes", nargs=-1),
    _KNOWN,
    option("--together", "The joint posterior of the nodes, and not one for each."),
    option("--most-probable", "The most probable states of all nodes together."),
    JSON,
    of=network,
)
def query(
    path: str, nodes: tuple[str, ...], given: Any, done: Any, together: bool, most_probable: bool, as_json: bool
) -> None:
    """The posteriors of NODES (of all, if none is named), given what is known; and the probability of that.

    \b
    ingenuo network query asia.bif lung --given smoke=yes --given 'xray!=no'
    ingenuo network query garden.yaml rain --do sprinkler=on
    ingenuo network query garden.yaml --most-probable --given grass=wet --json
    """
    if most_probable and nodes:
        raise click.UsageError("--most-probable is of all nodes together; name none")
    known = _read_known(path, given, done)
    answer: dict[str, Any] = {"given": known.evidence} if known.evidence else {}
    if given:
        answer["probability of the evidence"] = known.probability()
    if most_probable:
        found = known.most_probable()
        answer["most probable"] = {node: str(state) for node, state in found.states.items()}
        answer["probability"] = found.probability
    elif together:
        if len(nodes) < 2:
            raise click.UsageError("--together needs two nodes at least")
        joint = known.posterior(list(nodes))
        keys = [tuple(map(str, key)) for key in joint]
        if as_json:
            named = [dict(zip(nodes, key)) for key in keys]
            answer["joint"] = [{"states": s, "probability": p} for s, p in zip(named, joint.values())]
        else:
            answer["posteriors"] = {", ".join(nodes): dict(zip(map(", ".join, keys), joint.values()))}
    else:
        every = {node: known.posterior(node) for node in nodes} if nodes else known.posteriors()
        answer["posteriors"] = {node: {str(s): p for s, p in own.items()} for node, own in every.items()}
    if as_json:
        options.out_json(answer)
        return
    from ingenuo.show.table import PrintedTable

    if known.evidence:
        options.out(f"given {known.evidence}")
    if given:
        options.out(f"probability of the evidence: {answer['probability of the evidence']:.6g}")
    if most_probable:
        options.out(PrintedTable((), list(answer["most probable"].items())).text())
        options.out(f"with probability {answer['probability']:.6g}")
        return
    for node, own in answer["posteriors"].items():
        rows = [[state, p, "█" * round(30 * p)] for state, p in own.items()]
        options.out(PrintedTable((), rows, ["", "8.6f"], title=node).text())


@options.command(
    "draw",
    _NETWORK,
    options.picture("-o --output", "Where to draw it", ENDINGS, required=True),
    _KNOWN,
    option("--tables", "With the table of each node, in place of the bars."),
    option("--beliefs/--no-beliefs", "With or without the bars of belief.", default=True),
    option("--title TEXT", "What to write above it."),
    option("--language en|it|es", "Of the legend.", default="en"),
    of=network,
)
def draw(path: str, output: str, given: Any, done: Any, **how: Any) -> None:
    """Draw a network. With --given, a stroke on each bar marks what was believed before.

    \b
    ingenuo network draw asia.bif -o asia.svg
    ingenuo network draw asia.bif -o asia.pdf --tables
    ingenuo network draw asia.bif -o smoker.png --given smoke=yes --title 'A smoker'
    """
    _read_known(path, given, done).draw(output, strengths=how["beliefs"], **how)
    options.say(f"written to {output}")


@options.command(
    "convert",
    click.argument("source", type=click.Path()),
    click.argument("output", type=click.Path(), metavar="TARGET"),
    option("--target NODE", "The node that is the class, which .yaml and .ingenuo keep."),
    of=network,
)
def convert(source: str, output: str, target: str | None) -> None:
    """Write the network in SOURCE to TARGET, in the format of its name.

    \b
    ingenuo network convert alarm.bif.gz alarm.yaml
    ingenuo network convert weather.bif weather.yaml --target play
    """
    from ingenuo.networks.evidence import place_of

    found = _read(source)
    if target is not None:
        found.target = found.nodes[place_of(found.nodes, target)]
    _write(found, output)
    options.say(f"{len(found.nodes)} nodes and {len(found.arcs)} arcs written to {output}")


def _read(path: str) -> Any:
    from ingenuo.networks.network import Network

    found = options.load(path) if path.endswith(".ingenuo") else Network.read(path)
    found = getattr(found, "network_", found)  # of a classifier
    if not isinstance(found, Network):
        raise click.ClickException(f"{path} holds a {type(found).__name__}, and no network")
    return found


def _check_writable(path: str) -> None:
    """Refuse a name before the work, not after it."""
    from ingenuo.errors import InputError
    from ingenuo.networks.files import kind_of, refuse_json

    if path.endswith(".ingenuo"):
        return
    refuse_json(path)
    try:
        kind_of(path)
    except InputError as error:
        raise click.ClickException(f"{error}; or .ingenuo") from None


def _write(network: Any, path: str) -> None:
    from ingenuo.networks.files import kind_of
    from ingenuo.store import save

    if path.endswith(".ingenuo"):
        save(network, path)
        return
    network.write(path)
    if network.cuts and kind_of(path) in ("bif", "xmlbif"):
        cut = ", ".join(network.cuts)
        options.say(
            f"note: {path} has the names of the intervals of {cut}, and not the cut points: numbers are no evidence to "
            "it; .yaml and .ingenuo keep them"
        )


def _read_known(path: str, given: tuple[str, ...], done: tuple[str, ...]) -> Any:
    found = _read(path)
    if done:
        found = found.intervene(evidence(found, done, "--do"))
    return found.observe(evidence(found, given, "--given")) if given else found


def evidence(network: Any, given: tuple[str, ...], option: str) -> dict[str, Any]:
    """Evidence as it is written on the command line; the longest name of a node that fits is meant."""
    found: dict[str, Any] = {}
    for each in given:
        fitting = [node for node in network.nodes if each.startswith(node) and each[len(node) :][:1] in ("=", "!", "~")]
        node = max(fitting, key=len, default=None)
        if node is None:
            name = re.split("!=|~|=", each)[0]
            if name == each:
                raise click.BadParameter(f"{each!r} is no NODE=STATE", param_hint=option)
            network.posterior(name)  # which says that there is no such node, and which was meant
        assert node is not None
        if node in found:
            raise click.BadParameter(f"{node!r} is given twice", param_hint=option)
        sign, text = each[len(node)], each[len(node) + 1 :]
        if sign == "=":
            found[node] = text.split("|") if "|" in text and text not in map(str, network.states[node]) else text
        elif sign == "~":
            found[node] = {}
            for part in text.split(","):
                state, _, likelihood = part.rpartition(":")
                try:
                    found[node][state] = float(likelihood)
                except ValueError:
                    raise click.BadParameter(f"{part!r} is no STATE:NUMBER", param_hint=option) from None
        elif text.startswith("="):  # !=
            found[node] = {text[1:]: 0}
        else:
            forms = "NODE=STATE, NODE!=STATE or NODE~STATE:NUMBER,…"
            raise click.BadParameter(f"{each!r} is no {forms}", param_hint=option)
    return found
