"""`ingenuo serve`: models that answer over HTTP, and learn and forget while they do."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import click

from ingenuo.cli import options
from ingenuo.cli.options import option

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@options.command(
    "serve",
    click.argument("models", nargs=-1, required=True, metavar="MODEL...", type=click.Path()),
    option("--name NAME...", "What a MODEL is called, in their order  [its file without the ending]", "names"),
    option("--host ADDRESS", "Where to listen; other than this machine alone only with tokens.", default="127.0.0.1"),
    option(
        "--port", "The port; 0 is any that is free.", type=click.IntRange(0, 65535), default=8080, show_default=True
    ),
    option(
        "--token-file FILE",
        "Who may ask: a token in each line, and behind it what it allows, `read` or `learn`; where nothing is, both.",
        "token_file",
        type=click.Path(),
    ),
    option("--allow-host NAME...", "A name by which the server may be asked; may be repeated  [any]", "hosts"),
    option("--learn", "Learn and forget rows that are sent, and keep each change in a journal."),
    option("--journal FOLDER", "Where the journals are  [beside each model: MODEL.journal]", type=click.Path()),
    option("--workers N", "Processes that answer.", type=click.IntRange(1, 256), default=1),
    option("--rate N", "Requests per second of each token  [no limit]", type=click.FloatRange(min=0, min_open=True)),
    option(
        "--drain SECONDS",
        "For so long requests are answered after the system has asked for the end.",
        type=click.FloatRange(0, 600),
        default=5.0,
    ),
)
def serve(
    models: tuple[str, ...], names: tuple[str, ...], host: str, port: int, token_file: str | None, **given: object
) -> None:
    """Answer rows over HTTP by MODELs, each under its name; and learn and forget rows with --learn.

    Requests are those of the Open Inference Protocol (/v2), of MLflow and SageMaker (/invocations), and our own (/v1):
    predict, explain, change, learn, forget, recalibrate. /metrics is for Prometheus, and / a page on which the first
    model is asked. The first line printed is the address, once all models answer; then a line of JSON for each request
    follows on stderr. A MODEL whose file is replaced, or after a HUP, is loaded again; where it cannot be, the one
    before goes on.

    \b
    ingenuo serve mail.ingenuo
    ingenuo serve rome.ingenuo madrid.ingenuo --port 9000 --workers 4
    ingenuo serve mail.ingenuo --learn --journal /var/lib/ingenuo
    ingenuo serve mail.ingenuo --host 0.0.0.0 --token-file tokens.txt --allow-host mail.example.org
    curl -H 'Content-Type: application/json' -d '{"rows": [{"text": "hello"}]}' http://127.0.0.1:8080/v1/predict
    """
    if "-" in models:
        raise click.UsageError("a model that is served comes from a file, which is looked at again; name one")
    if given["journal"] is not None and not given["learn"]:
        raise click.UsageError("--journal is of --learn; give that too")
    options.check_inputs(*models, token_file)
    called = _names(models, names)
    from ingenuo.serve.http import read_tokens
    from ingenuo.serve.process import Settings
    from ingenuo.serve.server import address_of, is_loopback, listen, notify
    from ingenuo.serve.workers import serve as run

    tokens = () if token_file is None else read_tokens(token_file)
    if token_file is not None and os.name != "nt" and os.stat(token_file).st_mode & (stat.S_IRGRP | stat.S_IROTH):
        options.say(f"note: others on this machine can read {token_file}; chmod 600 keeps the tokens to yourself")
    if not is_loopback(host) and not tokens:
        raise click.UsageError(
            f"--host {host} can be reached from other machines, and whoever reaches it could ask, so it needs "
            "--token-file; without one, listen on 127.0.0.1"
        )
    settings = Settings(
        tuple(zip(called, models)), host, tokens=tokens, quiet=not options.is_heard(),
        **{key: given[key] for key in ("hosts", "learn", "journal", "workers", "rate", "drain")},  # type: ignore[arg-type]
    )  # fmt: skip
    with listen(port, host) as bound:

        def announce() -> None:
            options.out(address_of(bound))
            notify("READY=1")

        run(settings, bound, announce)


def _names(models: tuple[str, ...], names: tuple[str, ...]) -> list[str]:
    """What the models are called."""
    if names and len(names) != len(models):
        raise click.UsageError(
            f"there are {len(models)} models and {len(names)} names; give a --name for each, or none"
        )
    called = list(names) or [Path(path).name.removesuffix(".ingenuo") for path in models]
    for name in called:
        if not _NAME.fullmatch(name):
            raise click.UsageError(
                f"{name!r} is no name of a served model, which stands in addresses; give it by --name, in letters, "
                "digits, '.', '_' and '-'"
            )
        if called.count(name) > 1:
            raise click.UsageError(f"two models are called {name!r}; give each a --name of its own")
    return called
