"""`racer gate`: whether a change is worse than the baseline."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from racer._files import write_text
from racer.cli.output import NAME, NO_BEST, json_of, refused_as, reported, say, shown
from racer.cli.scenarios import WithCommand
from racer.run.signals import at_terminal

_CODES = {"passes": 0, "worse": 1, "undecided": NO_BEST}


@click.command("gate", cls=WithCommand, short_help="Is a change worse than the baseline?")
@click.option(
    "--baseline", type=click.Path(exists=True), required=True, help="File of scores, or a store."
)
@click.option("--margin", required=True, metavar="2%", help="Difference that does not matter.")
@click.option(
    "--maximize/--minimize", "goal", default=None, help="Larger scores are better, or smaller."
)
@click.option("--bounds", type=(float, float), metavar="LOW HIGH", help="Least and largest score.")
@click.option("--score", metavar="NAME", help="Name of the score; which one, of several.")
@click.option("--candidate", metavar="NAME", help="Which algorithm of the file is the baseline.")
@click.option("--items", type=click.Path(exists=True), help="Folder, or file with a line for each.")
@click.option("--budget", type=click.IntRange(1), help="Evaluations at most; by default all items.")
@click.option("--alpha", type=float, default=0.05, help="Probability of a wrong answer.")
@click.option("--n-jobs", type=int, default=1, help="Evaluations at a time; -1: all cores.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of the order of items.")
@click.option("--store", "-o", type=NAME, help="Record here, and go on where it was interrupted.")
@click.option("--comment", type=NAME, help="Add the comment in Markdown to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all scores.")
def gate_command(
    baseline: str,
    *,
    goal: bool | None,
    bounds: tuple[float, float] | None,
    score: str | None,
    candidate: str | None,
    items: str | None,
    comment: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Decide whether a change is worse than the baseline by more than a margin.

    The program after -- prints the score of the changed version on an item. Items come in random
    order, and only as many as the answer takes. A
    margin of 2% is of the scores' range, or, without bounds, of their mean.

    \b
        racer gate --baseline main.json --margin 2% --maximize -- \\
            python evaluate.py {item}

    Exit code 0: it passes; 1: it is worse, or another error; 2: wrong usage, setting or
    baseline; 3: undecided; 130 after Ctrl-C.
    """  # noqa: D301  (a backspace is click's mark of lines to keep)
    from racer.core.objective import Metric  # noqa: PLC0415  (fast --help)
    from racer.errors import ScoresError, SettingError  # noqa: PLC0415
    from racer.evaluate.command.command import Command  # noqa: PLC0415
    from racer.scenario.gate import baseline_in, gate  # noqa: PLC0415
    from racer.scenario.scenario import Scenario  # noqa: PLC0415

    words = click.get_current_context().meta.get("command")
    if not words:
        raise click.UsageError("which program? Give it at the end: -- python evaluate.py {item}")
    with reported():
        command = Command([word.replace("{item}", "{instance}") for word in words])
        metric: Any = None
        if goal is not None:
            metric = {score or "score": Metric("max" if goal else "min", bounds=bounds)}
        elif bounds is not None:
            raise SettingError("--bounds: give --maximize or --minimize, too")
        listed = Scenario({"instances": items}).instances("instances")
        try:
            known = baseline_in(Path(baseline), score)
            if candidate is not None and hasattr(known, "algorithm"):
                attrs, known = known.attrs, known[known["algorithm"] == candidate]
                known.attrs = attrs
            result = gate(known, command, listed, goal=metric, progress=at_terminal(), **settings)
        except ScoresError as error:
            raise SettingError(str(error)) from None
        say(json_of(result.to_dict()) if as_json else shown(result))
        if comment is not None:
            with refused_as(Path(comment)):
                before = Path(comment).read_text("utf-8") if Path(comment).exists() else ""
                write_text(Path(comment), before + result.to_markdown())
    sys.exit(_CODES[result.answer])
