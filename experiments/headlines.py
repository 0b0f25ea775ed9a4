"""All headline figures: each command runs as its page says, or in a small version."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import click

from experiments.options import file_in_a_directory

__all__ = ["HEADLINES", "main"]

ROOT = Path(__file__).resolve().parent.parent
HEADLINES = {  # the commands of the pages, and what makes them small
    "table1.py": "--draws 200000",
    "table2.py": "--repetitions 60",
    "error_rates.py --repetitions 60": "--candidates 10 --blocks 50 --worlds 'normal interaction' "
    "--deciders 'bayesian-friedman f-race t-race anytime best-for-budget'",
    "frontier.py --seed 5": "--repetitions 20 --candidates 10 --budgets 20 --worlds 'normal crossing'",
    "signed_rank_losses.py": "--repetitions 200",
    "bradley_terry.py": "--draws 20000",
    "plackett_luce.py": "",
    "bench.py sklearn": "--data 'wine breast_cancer' --estimators tree --repetitions 3",
    "bench.py tuner": "--half chosen --problems 'sphere annealing' --contenders 'racer halving' "
    "--budgets 1000 --seeds 2",
    "study.py programs": "--budget 300",
    "bench.py workers": "--seeds 1",
    "bench.py async": "--items 30",
    "bench.py engine": "--repeats 1 --evaluations 5000 --decider bayesian-friedman --decider f-race",
}


@click.command()
@click.option("--quick", is_flag=True, help="Small samples: some minutes instead of hours.")
@click.option("--only", help="Only the commands that have this in their names.")
@click.option(
    "-o",
    "--output",
    "path",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    default="headlines.md",
    show_default=True,
    callback=file_in_a_directory,
)
def main(*, quick: bool, only: str | None, path: Path) -> None:
    """Run all that makes the headline figures of README and docs, and write their tables."""
    path.write_text("# Headline figures\n", encoding="utf-8")
    failed = []
    for command, fewer in HEADLINES.items():
        if only and only not in command:
            continue
        line = f"scripts/{command} {fewer if quick else ''}".strip()
        click.echo(f"python {line}", err=True)
        words = [sys.executable, *shlex.split(line)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)  # noqa: S603
        said = (done.stderr if done.returncode else done.stdout).strip()
        failed += [command] if done.returncode else []
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n## `python {line}`\n\n```text\n{said}\n```\n")
    if failed:
        raise click.ClickException(f"{', '.join(failed)} failed: {path} has what they said")
    click.echo(f"All are in {path}.")
