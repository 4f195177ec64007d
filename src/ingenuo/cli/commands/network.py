"""`ingenuo network`: learn a network from a file, ask it, draw it, convert it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ingenuo.cli.options import check_inputs, common, kinds

STRUCTURES = ("hill-climb", "k2", "chow-liu", "tan", "kdb", "naive")


@click.group("network", short_help="Bayesian networks: learn, query, draw and convert them.")
def command() -> None:
    """Bayesian networks: learn one from a table, ask it, draw it, convert its file.

    Network files are .bif, .xml (XMLBIF), .yaml, each perhaps with .gz behind, or .ingenuo, which keeps the counts as
    well; .json is read too.
    """


_given = click.option(
    "--given",
    multiple=True,
    metavar="EVIDENCE",
    help="What is known: NODE=STATE, NODE!=STATE, NODE=A|B (one of these), or NODE~A:0.7,B:0.3 (likelihoods).",
)
_do = click.option(
    "--do", "done", multiple=True, metavar="NODE=STATE", help="What is set, whatever would have caused it."
)


@command.command("learn")
@click.argument("data", type=click.Path())
@click.option("-o", "--output", type=click.Path(), required=True, help="Where to write the network.")
@click.option(
    "--structure", type=click.Choice(STRUCTURES), default="hill-climb", show_default=True, help="How to search."
)
@click.option("--target", help="The class: tan, kdb and naive need one, and numbers are cut by it.")
@click.option("--score", type=click.Choice(["bic", "bdeu", "k2", "aic"]), help="What is climbed  [bic; k2 for k2]")
@click.option("--ess", type=float, default=1.0, show_default=True, help="Imaginary rows of the BDeu score.")
@click.option("--max-parents", type=int, help="The most parents a node may have.")
@click.option("--order", multiple=True, metavar="NODE", help="Of k2, the nodes in their order, one option each.")
@click.option("--root", help="Of tan and chow-liu, where the tree begins.")
@click.option("--k", type=int, default=2, show_default=True, help="Of kdb, the parents besides the class.")
@click.option("--tabu", type=int, default=20, show_default=True, help="How many steps downhill are tried.")
@click.option("--restarts", type=int, default=0, show_default=True, help="How often the search begins again.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of restarts, and of filling missing values.")
@click.option("--require", nargs=2, multiple=True, metavar="FROM TO", help="An arc that must be there.")
@click.option("--forbid", nargs=2, multiple=True, metavar="FROM TO", help="An arc that must not.")
@click.option("--column", multiple=True, metavar="NAME=KIND", help="category, number or ignore.")
@click.option("--smoothing", type=float, default=1.0, show_default=True, help="Imaginary rows in each cell of a table.")
@click.option(
    "--missing",
    type=click.Choice(["leave-out", "em"]),
    default="leave-out",
    show_default=True,
    help="What to do with missing values when tables are learned.",
)
@click.option("--path", "show_path", is_flag=True, help="Print every step of the search.")
@common
def learn(data: str, output: str, **options: Any) -> None:
    """Learn a network from a table and write it to a file.

    \b
    ingenuo network learn patients.csv -o patients.yaml
    ingenuo network learn patients.csv -o patients.ingenuo --structure tan --target outcome
    ingenuo network learn patients.csv -o patients.bif --score bdeu --require age outcome --forbid outcome sex
    """
    check_inputs(data)
    from ingenuo.networks.network import Network
    from ingenuo.rows.files.scan import read
    from ingenuo.tally.prior import Lidstone

    _check_writable(output)
    network = Network.learn(
        read(data),
        options["structure"],
        target=options["target"],
        columns=kinds(options["column"]),
        prior=Lidstone(options["smoothing"]),
        score=options["score"],
        ess=options["ess"],
        max_parents=options["max_parents"],
        order=options["order"] or None,
        root=options["root"],
        k=options["k"],
        tabu=options["tabu"],
        restarts=options["restarts"],
        random_state=options["seed"],
        required=options["require"],
        forbidden=options["forbid"],
        missing=options["missing"],
    )
    network.name = Path(data).name.split(".")[0]
    _write(network, output)
    found = network.search
    if found is not None:
        click.echo(str(found) if options["show_path"] else str(found).splitlines()[0])
    click.echo(str(network))
    click.echo(f"written to {output}")


@command.command("query")
@click.argument("network", type=click.Path())
@click.argument("nodes", nargs=-1)
@_given
@_do
@click.option("--together", is_flag=True, help="The joint posterior of the nodes, and not one for each.")
@click.option("--most-probable", is_flag=True, help="The most probable states of all nodes together.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common
def query(
    network: str, nodes: tuple[str, ...], given: Any, done: Any, together: bool, most_probable: bool, as_json: bool
) -> None:
    """The posteriors of NODES (of all, if none is named), given what is known; and the probability of that.

    \b
    ingenuo network query asia.bif lung --given smoke=yes --given 'xray!=no'
    ingenuo network query garden.yaml rain --do sprinkler=on
    ingenuo network query garden.yaml --most-probable --given grass=wet --json
    """
    if most_probable and nodes:
        raise click.UsageError("--most-probable is of all nodes together; name none")
    asked = _asked(network, given, done)
    answer: dict[str, Any] = {"given": asked.evidence} if asked.evidence else {}
    if given:
        answer["probability of the evidence"] = asked.probability()
    if most_probable:
        found = asked.most_probable()
        answer["most probable"] = {node: str(state) for node, state in found.states.items()}
        answer["probability"] = found.probability
    elif together:
        if len(nodes) < 2:
            raise click.UsageError("--together needs two nodes at least")
        joint = asked.posterior(list(nodes))
        if as_json:
            answer["joint"] = [
                {"states": dict(zip(nodes, map(str, key))), "probability": p} for key, p in joint.items()
            ]
        else:
            answer["posteriors"] = {", ".join(nodes): {", ".join(map(str, key)): p for key, p in joint.items()}}
    else:
        every = {node: asked.posterior(node) for node in nodes} if nodes else asked.posteriors()
        answer["posteriors"] = {node: {str(s): p for s, p in own.items()} for node, own in every.items()}
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False, indent=2))
        return
    if asked.evidence:
        click.echo(f"given {asked.evidence}")
    if given:
        click.echo(f"probability of the evidence: {answer['probability of the evidence']:.6g}")
    if most_probable:
        width = max(map(len, answer["most probable"]))
        for node, state in answer["most probable"].items():
            click.echo(f"{node.ljust(width)}  {state}")
        click.echo(f"with probability {answer['probability']:.6g}")
        return
    for node, own in answer["posteriors"].items():
        click.echo(node)
        width = max(map(len, own))
        for state, p in own.items():
            click.echo(f"  {state.ljust(width)}  {p:8.6f}  {'█' * round(30 * p)}".rstrip())


@command.command("draw")
@click.argument("network", type=click.Path())
@click.argument("picture", type=click.Path())
@_given
@_do
@click.option("--beliefs/--no-beliefs", default=True, help="With or without the bars of belief.")
@click.option("--title", help="What to write above it.")
@common
def draw(network: str, picture: str, given: Any, done: Any, beliefs: bool, title: str | None) -> None:
    """Draw a network to PICTURE, an .svg file.

    \b
    ingenuo network draw asia.bif asia.svg
    ingenuo network draw asia.bif smoker.svg --given smoke=yes --title 'A smoker'
    """
    _asked(network, given, done).draw(picture, beliefs=beliefs, strengths=beliefs, title=title)
    click.echo(f"drawn to {picture}")


@command.command("convert")
@click.argument("source", type=click.Path())
@click.argument("target", type=click.Path())
@common
def convert(source: str, target: str) -> None:
    """Write the network in SOURCE to TARGET, in the format of its name.

    \b
    ingenuo network convert alarm.bif.gz alarm.yaml
    """
    network = _read(source)
    _write(network, target)
    click.echo(f"{len(network.nodes)} nodes and {len(network.arcs)} arcs written to {target}")


def _read(path: str) -> Any:
    from ingenuo.models.network_classifier import NetworkClassifier
    from ingenuo.networks.network import Network
    from ingenuo.store import load

    if not path.endswith(".ingenuo"):
        return Network.read(path)
    found = load(path)
    if isinstance(found, NetworkClassifier):
        return found.network_
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
        click.echo(
            f"note: {path} has the names of the intervals of {cut}, and not the cut points: numbers are no evidence to "
            "it; .yaml and .ingenuo keep them",
            err=True,
        )


def _asked(path: str, given: tuple[str, ...], done: tuple[str, ...]) -> Any:
    network = _read(path)
    if done:
        network = network.intervene(evidence(network, done, "--do"))
    return network.observe(evidence(network, given, "--given")) if given else network


def evidence(network: Any, given: tuple[str, ...], option: str) -> dict[str, Any]:
    """Evidence as it is written on the command line; the longest name of a node that fits is meant."""
    found: dict[str, Any] = {}
    for each in given:
        fitting = [node for node in network.nodes if each.startswith(node) and each[len(node) :][:1] in ("=", "!", "~")]
        node = max(fitting, key=len, default=None)
        if node is None:
            name = each.replace("!=", "=").replace("~", "=").split("=")[0]
            if name == each:
                raise click.BadParameter(f"{each!r} is no NODE=STATE", param_hint=option)
            network.posterior(name)  # which says that there is no such node, and which was meant
        assert node is not None
        rest = each[len(node) :]
        if node in found:
            raise click.BadParameter(f"{node!r} is given twice", param_hint=option)
        if rest.startswith("!="):
            found[node] = {rest[2:]: 0}
        elif rest.startswith("="):
            states = network.states[node]
            one = rest[1:]
            found[node] = one.split("|") if "|" in one and one not in map(str, states) else one
        elif rest.startswith("~"):
            found[node] = _likelihoods(rest[1:], option)
        else:
            raise click.BadParameter(
                f"{each!r} is no NODE=STATE, NODE!=STATE or NODE~STATE:NUMBER,…", param_hint=option
            )
    return found


def _likelihoods(text: str, option: str) -> dict[str, float]:
    found = {}
    for part in text.split(","):
        state, _, number = part.rpartition(":")
        try:
            found[state] = float(number)
        except ValueError:
            raise click.BadParameter(f"{part!r} is no STATE:NUMBER", param_hint=option) from None
    return found
