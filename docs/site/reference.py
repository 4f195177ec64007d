"""The pages of the reference: one for each public name, by its docstring, and one for each command, by its options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import click

import ingenuo
from ingenuo.cli import COMMANDS, main

# The public names, in the order in which one meets them; one that is in no group here is listed under the last.
GROUPS = {
    "Classifiers": """BayesClassifier NaiveBayes GaussianDiscriminant LeastSquaresClassifier SoftmaxRegression
        NetworkClassifier LanguageModelClassifier BayesOptimalClassifier BoostedTrees""",
    "Other models": "Hypotheses Network LanguageModel NaiveBayesRegressor AttributeSelector",
    "In place of scikit-learn's": "GaussianNB MultinomialNB ComplementNB BernoulliNB CategoricalNB",
    "Priors": "MaximumLikelihood Laplace Lidstone MEstimate Dirichlet",
    "Rows, text, sums, files": "Schema Tally Words read scan load save",
    "Explaining": "explain nomogram strongest",
    "Judging": """cross_validate CrossValidation evaluate Evaluation EvaluationDisplay compare reliability Reliability
        ReliabilityDisplay audit""",
}
LAST = "Judging"

# What is public without being a name of the package itself: a page for each, of these names of these modules.
MODULES = {
    "datasets": ("Small tables", {"ingenuo.datasets": "play_tennis weather diabetes"}),
    "significance": (
        "Significance",
        {
            "ingenuo.evaluation.significance": """mcnemar paired_bootstrap permutation corrected_t wilcoxon friedman
                nemenyi holm Verdict Effect Nemenyi"""
        },
    ),
    "results": (
        "What the functions return",
        {
            "ingenuo.evaluation.comparison": "Comparison",
            "ingenuo.explanation.explain": "Inspection ColumnView inspect column_view",
            "ingenuo.explanation.nomogram": "Nomogram",
            "ingenuo.explanation.strongest": "Strongest",
        },
    ),
    "page": ("The page, the report, the card", {
        "ingenuo.page": "page",
        "ingenuo.page.javascript": "javascript",
        "ingenuo.report.page": "report",
        "ingenuo.report.card": "card",
    }),
    "sheet": ("Sheets: ONNX and SQL", {
        "ingenuo.sheet": "sheet Sheet",
        "ingenuo.sheet.onnx": "onnx",
        "ingenuo.sheet.sql": "sql statements",
        "ingenuo.sheet.score": "scorer",
    }),
    "drift": ("Drift", {
        "ingenuo.evaluation.drift": "drift reference Drift Reference Change",
        "ingenuo.evaluation.watch": "Watch prometheus",
    }),
    "mlflow": ("MLflow", {"ingenuo.mlflow": "save_model log_model load_model"}),
    "errors": ("Errors", {"ingenuo.errors": ""}),
}  # fmt: skip

_MARKS = re.compile(r"([\\`*_\[\]<>|#])")


def groups() -> dict[str, list[str]]:
    """The public names by their groups."""
    found = {group: [name for name in names.split() if name in ingenuo.__all__] for group, names in GROUPS.items()}
    known = {name for names in found.values() for name in names}
    found[LAST] += [name for name in ingenuo.__all__ if name not in known and not name.startswith("_")]
    return found


def commands() -> dict[str, click.Command]:
    """Every command by how it is typed, those of groups too."""
    return dict(walk(main, click.Context(main, info_name="ingenuo")))


def walk(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    """The commands of a group, and of the groups in it."""
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        inner = click.Context(found, info_name=name, parent=context)
        yield inner.command_path.removeprefix("ingenuo "), found
        if isinstance(found, click.Group):
            yield from walk(found, inner)


def nav() -> list[Any]:
    """The reference's part of the navigation."""
    names = [{group: [{name: f"api/{name}.md"} for name in names]} for group, names in groups().items()]
    modules = {"Modules": [{title: f"api/{page}.md"} for page, (title, _) in MODULES.items()]}
    typed = [{name: f"cli/{name.replace(' ', '_')}.md"} for name in commands()]
    return [{"Commands": ["cli/index.md", *typed]}, {"Python": ["api/index.md", *names, modules]}]


def pages() -> dict[str, str]:
    """Every page of the reference, by its place."""
    made = {"api/index.md": "\n".join(index()), "cli/index.md": "\n".join(list_of_commands())}
    for names in groups().values():
        made |= {f"api/{name}.md": f"::: ingenuo.{name}\n" for name in names}
    for page, (title, modules) in MODULES.items():
        made[f"api/{page}.md"] = "\n".join(module(title, modules))
    for name, command in commands().items():
        made[f"cli/{name.replace(' ', '_')}.md"] = "\n".join(of_command(name, command))
    return made


# Python.


def summary(name: str) -> str:
    """The first sentence of the docstring of a public name."""
    return _escaped((getattr(ingenuo, name).__doc__ or "").strip().partition("\n\n")[0].replace("\n", " "))


def index() -> Iterator[str]:
    """All public names, each with its first sentence."""
    yield "# Python\n\n`import ingenuo as ing` gives all of these; each is imported when it is first used.\n"
    for group, names in groups().items():
        yield f"## {group}\n\n| | |\n|---|---|"
        yield from (f"| [`{name}`]({name}.md) | {summary(name)} |" for name in names)
        yield ""
    yield "## Modules\n\n| | |\n|---|---|"
    for page, (title, modules) in MODULES.items():
        yield f"| [{title}]({page}.md) | {', '.join(f'`{module}`' for module in modules)} |"


def module(title: str, modules: dict[str, str]) -> Iterator[str]:
    """Some names of some modules, or all of one."""
    yield f"# {title}\n"
    for name, members in modules.items():
        for member in members.split():
            yield f"::: {name}.{member}\n    options:\n      heading_level: 2\n"
        if not members:
            options = "heading_level: 2\n      show_root_heading: false\n      inherited_members: false"
            yield f"::: {name}\n    options:\n      {options}\n"


# Commands.


def list_of_commands() -> Iterator[str]:
    """All commands, each with its line in the help."""
    yield "# Every command\n\nWith all options and examples; [the commands](../commands.md) shows them at work.\n"
    yield "| | |\n|---|---|"
    for name, command in commands().items():
        line = COMMANDS.get(name) or command.get_short_help_str(200)
        yield f"| [`ingenuo {name}`]({name.replace(' ', '_')}.md) | {_escaped(line)} |"


def of_command(name: str, command: click.Command) -> Iterator[str]:
    """One command: how it is typed, what it does, examples, options."""
    context = click.Context(command, info_name=f"ingenuo {name}")
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"# ingenuo {name}\n\n```text\ningenuo {name} {usage}\n```\n"
    for paragraph in re.split(r"\n\s*\n", (command.help or "").strip()):
        first, _, rest = paragraph.partition("\n")
        if first.strip() == "\b":
            lines = rest.splitlines()
            least = min(len(line) - len(line.lstrip()) for line in lines)
            kind = "sh" if any(line.strip().startswith("ingenuo") for line in lines) else "text"
            yield f"```{kind}\n" + "\n".join(line[least:] for line in lines) + "\n```\n"
        else:
            yield _escaped(" ".join(paragraph.split())) + "\n"
    if isinstance(command, click.Group):
        yield "## Commands\n\n| | |\n|---|---|"
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield f"| [`ingenuo {name} {inner}`]({name}_{inner}.md) | {_escaped(found.get_short_help_str(200))} |"
        yield ""
    options = [each for each in command.get_params(context) if isinstance(each, click.Option)]
    records = [record for each in options if (record := each.get_help_record(context))]
    yield "## Options\n\n| option | what it does |\n|---|---|"
    for typed, what in records:
        yield f"| `{typed.replace('|', chr(92) + '|')}` | {_escaped(' '.join(what.split()))} |"


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is, but for what is between backticks, which stays code."""
    parts = re.split(r"(`[^`\n]+`)", text)
    return "".join(
        part.replace("|", r"\|") if part.startswith("`") and len(part) > 1 else _MARKS.sub(r"\\\1", part)
        for part in parts
    )
