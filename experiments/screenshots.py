"""Take pictures of reports in headless Chromium."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import click

import racer
from experiments.figures import known_truth, step_sizes
from experiments.importance.known_truth import evaluate
from experiments.options import figures_option
from experiments.report import shrink

__all__ = ["main"]

_OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--force-device-scale-factor=1.5"),
)


def shoot(page: Path, picture: Path, *, dark: bool, height: int) -> None:
    """Take a picture of the top of a page."""
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(  # noqa: S603
            [  # noqa: S607
                "chromium",
                *_OPTIONS,
                *(["--blink-settings=preferredColorScheme=0"] if dark else []),
                f"--user-data-dir={profile}",
                f"--window-size=1080,{height}",
                f"--screenshot={picture}",
                page.as_uri(),
            ],
            check=True,
            capture_output=True,
        )


@click.command()
@figures_option
def main(folder: Path) -> None:
    """Write the reports of a race and of a tuning, and take pictures of them."""
    if shutil.which("chromium") is None:
        raise click.ClickException("chromium is missing: install Debian's package chromium")
    folder.mkdir(parents=True, exist_ok=True)
    tuned = known_truth()
    with tempfile.TemporaryDirectory() as pages:
        page = Path(pages) / "report.html"
        tuned.report(page, ablation=racer.ablation(tuned, evaluate))
        shoot(page, folder / "report_tuning.png", dark=False, height=2300)
        step_sizes().report(page)
        shoot(page, folder / "report_race.png", dark=True, height=1400)
    for name in ("report_tuning", "report_race"):
        path = folder / f"{name}.png"
        shrink(path)
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
