"""`ingenuo completion`: the script that makes a shell complete what is typed."""

from __future__ import annotations

import click

from ingenuo.cli import options


@click.command("completion", short_help="Print what makes a shell complete commands and options.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@options.common
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
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
