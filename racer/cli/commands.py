"""`racer`, and its commands."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

# Each command is imported when it is named: what one needs would make every other one slow to start.
_COMMANDS = {
    "ablation": "racer.cli.stores:ablation",
    "bench": "racer.cli.bench:bench_command",
    "check": "racer.cli.stores:check",
    "check-scenario": "racer.cli.scenarios:check_scenario",
    "compare": "racer.cli.compare:compare_command",
    "demo": "racer.cli.demo.command:demo",
    "gate": "racer.cli.gate:gate_command",
    "import-irace": "racer.cli.scenarios:import_irace",
    "init": "racer.cli.scenarios:init",
    "race": "racer.cli.race:race",
    "report": "racer.cli.stores:report",
    "resume": "racer.cli.stores:resume",
    "show": "racer.cli.stores:show",
    "tune": "racer.cli.scenarios:tune",
}


class _Commands(click.Group):
    """The commands, by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, *, standalone_mode: bool = True, **extra: Any
    ) -> Any:
        """Run a command; quotations in errors are shown as text."""
        if not standalone_mode:
            return super().main(args, standalone_mode=False, **extra)
        try:
            self._run(args, **extra)
        finally:
            try:
                if sys.stderr is not None:
                    sys.stderr.flush()
            except OSError:  # or Python would try again, and end with another exit code
                sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115

    def _run(self, args: Sequence[str] | None, **extra: Any) -> NoReturn:
        """Run a command, and exit."""
        from racer.render.escape import printable  # noqa: PLC0415

        try:
            code = super().main(args, standalone_mode=False, **extra)
        except click.ClickException as error:
            shown = io.StringIO()
            error.show(shown)
            with suppress(OSError):
                click.echo(printable(shown.getvalue()), nl=False, err=True)
            sys.exit(error.exit_code)
        except click.Abort as error:  # Ctrl-C, a prompt that was denied, or the end of its input
            with suppress(OSError):
                click.echo("Aborted!", err=True)
            # 130: ended by Ctrl-C
            sys.exit(130 if isinstance(error.__context__, KeyboardInterrupt) else 1)
        except BrokenPipeError:  # the reader of the answer
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
            sys.exit(1)
        except OSError as error:  # of the answer, or of a path that an option names
            what = error.filename or "the answer cannot be written"
            if not error.filename:
                sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
            with suppress(OSError):
                click.echo(printable(f"Error: {what}: {error.strerror or error}"), err=True)
            sys.exit(1)
        sys.exit(code if isinstance(code, int) else 0)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from racer._checks import did_you_mean  # noqa: PLC0415  (a second)

            ctx.fail(error.format_message().rstrip(".") + did_you_mean(args[0], _COMMANDS))


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.version_option(package_name="racer-tuning")
def main() -> None:
    """Race algorithm configurations, and compare algorithms by their scores."""
    if hasattr(signal, "SIGCHLD") and signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # inherited: exit codes could not be read
