"""All headline figures: each command runs as its page says, or in a small version."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import click

from experiments.options import file_in_a_directory

ROOT = Path(__file__).resolve().parent.parent


class Headline(NamedTuple):
    """A command, the page that shows its figures, and its arguments there and in short."""

    title: str
    page: str
    command: str
    arguments: str
    quick: str

    @property
    def name(self) -> str:
        """The script, or the benchmark or study that it is asked for."""
        return self.command.split()[-1].removesuffix(".py")


HEADLINES = (
    Headline(
        "Joint statements (Benavoli et al. 2015, Table 1)",
        "experiments/benavoli2015/README.md",
        "table1.py",
        "",
        "--draws 200000",
    ),
    Headline(
        "Races of the paper (Benavoli et al. 2015, Table 2)",
        "docs/evidence.md",
        "table2.py",
        "",
        "--repetitions 60",
    ),
    Headline(
        "Error rates of the deciders",
        "docs/evidence_deciders.md",
        "error_rates.py",
        "--summary --repetitions 60",
        "--summary --repetitions 60 --candidates 10 --blocks 50 --worlds 'normal interaction' "
        "--deciders 'bayesian-friedman f-race t-race anytime best-for-budget'",
    ),
    Headline(
        "Error against observations",
        "experiments/frontier/README.md",
        "frontier.py",
        "--seed 5 --repetitions 60",
        "--seed 5 --repetitions 20 --candidates 10 --budgets 20 --worlds 'normal crossing'",
    ),
    Headline(
        "Losses of decisions (Benavoli et al. 2014)",
        "experiments/benavoli2014/README.md",
        "signed_rank_losses.py",
        "",
        "--repetitions 200",
    ),
    Headline(
        "Classifiers by Bradley-Terry (Wainer 2023)",
        "experiments/wainer2023/README.md",
        "bradley_terry.py",
        "",
        "--draws 20000",
    ),
    Headline(
        "Optimisers by Plackett-Luce (Calvo et al. 2019)",
        "experiments/calvo2019/README.md",
        "plackett_luce.py",
        "",
        "",
    ),
    Headline(
        "Searches of scikit-learn",
        "docs/evidence_sklearn.md",
        "bench.py sklearn",
        "",
        "--data 'wine breast_cancer' --estimators tree --repetitions 3",
    ),
    Headline(
        "The tuner beside others",
        "experiments/tuner/README.md",
        "bench.py tuner",
        "--half reported",
        "--half chosen --problems 'sphere annealing' --contenders 'racer halving' "
        "--budgets 1000 --seeds 2",
    ),
    Headline(
        "Programs tuned",
        "experiments/programs/README.md",
        "study.py programs",
        "",
        "--budget 300",
    ),
    Headline("Use of the workers", "docs/speed.md", "bench.py workers", "--seeds 3", "--seeds 1"),
    Headline("Coroutines", "docs/speed.md", "bench.py async", "", "--items 30"),
    Headline(
        "Time per evaluation",
        "docs/speed.md",
        "bench.py engine",
        "--repeats 2",
        "--repeats 1 --evaluations 5000 --decider bayesian-friedman --decider f-race",
    ),
)


def section(headline: Headline, arguments: str) -> tuple[str, bool]:
    """Run a command; return what it printed as a section in Markdown, and whether it succeeded."""
    line = f"scripts/{headline.command} {arguments}".strip()
    began = time.monotonic()
    done = subprocess.run(  # noqa: S603  (our own scripts)
        [sys.executable, *shlex.split(line)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    seconds = time.monotonic() - began
    said = done.stdout.strip() if not done.returncode else done.stderr.strip()
    ended = "" if not done.returncode else f", exit code {done.returncode}"
    return (
        f"## {headline.title}\n\nShown in {headline.page}. `python {line}`, {seconds:.0f} s{ended}:\n\n"
        f"```text\n{said}\n```\n"
    ), not done.returncode


@click.command()
@click.option("--quick", is_flag=True, help="Small samples: some minutes instead of hours.")
@click.option(
    "--only",
    type=click.Choice([headline.name for headline in HEADLINES]),
    multiple=True,
    help="Only these; may be repeated.",
)
@click.option(
    "-o",
    "--output",
    "path",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    default="headlines.md",
    show_default=True,
    callback=file_in_a_directory,
)
def main(*, quick: bool, only: tuple[str, ...], path: Path) -> None:
    """Run all that makes the headline figures of README and docs, and write their tables."""
    chosen = [headline for headline in HEADLINES if not only or headline.name in only]
    samples = "Small samples, as of `--quick`." if quick else "As the pages say."
    path.write_text(f"# Headline figures\n\n{samples}\n", encoding="utf-8")
    failed = []
    for headline in chosen:
        click.echo(f"{headline.title} ..", err=True)
        text, succeeded = section(headline, headline.quick if quick else headline.arguments)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n{text}")
        if not succeeded:
            failed.append(headline.name)
    if failed:
        raise click.ClickException(f"{', '.join(failed)} failed: {path} has what they said")
    click.echo(f"All are in {path}.")
