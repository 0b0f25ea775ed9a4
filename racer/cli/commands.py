"""`racer`, and its commands."""

from __future__ import annotations

import click

from racer.cli.ablation import ablation
from racer.cli.check import check
from racer.cli.compare import compare_command
from racer.cli.demo.command import demo
from racer.cli.export import export
from racer.cli.scenario_files import import_irace, init
from racer.cli.show import report, resume, show
from racer.cli.tune import check_scenario, tune
from racer.cli.watch import watch


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="racer-tuning")
def main() -> None:
    """Race algorithm configurations, and compare algorithms by their scores."""


main.add_command(ablation)
main.add_command(check)
main.add_command(compare_command)
main.add_command(demo)
main.add_command(export)
main.add_command(report)
main.add_command(resume)
main.add_command(show)
main.add_command(tune)
main.add_command(check_scenario)
main.add_command(init)
main.add_command(import_irace)
main.add_command(watch)
