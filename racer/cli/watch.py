"""`racer watch`: the progress of a contest that another process runs."""

from __future__ import annotations

from contextlib import suppress

import click

from racer.cli.answer import reported


@click.command(short_help="Watch a race or a tuning as it goes on.")
@click.argument("store", type=click.Path())
@click.option(
    "--interval",
    type=click.FloatRange(0.25),
    default=1.0,
    show_default=True,
    help="Seconds between two looks.",
)
@click.option("--once", is_flag=True, help="Look once, and end.")
def watch(store: str, *, interval: float, once: bool) -> None:
    """Show where the race or tuning in STORE stands, until it has ended.

    Another process runs it; STORE is only read. Live in a terminal, else a line when something
    has changed. Ctrl-C ends the watching, not the race.
    """
    from racer.run.watch import watch as run  # noqa: PLC0415  (a second)

    with reported(), suppress(KeyboardInterrupt):
        run(store, interval=interval, once=once)
