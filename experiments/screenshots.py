"""Take pictures of reports in headless Chromium."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click
from PIL import Image

import racer
from experiments.figures import evaluate, known_truth, step_sizes
from experiments.options import figures_option
from experiments.pictures import shrink, words

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def reports(folder: Path) -> Iterator[tuple[str, Path, bool, int]]:
    """Write the reports of docs; yield picture, page, whether it is dark, and height in pixels."""
    tuned, page = known_truth(), folder / "report.html"
    tuned.report(page, ablation=racer.ablation(tuned, evaluate))
    yield "report_tuning.png", page, False, 2300
    step_sizes().report(page)
    yield "report_race.png", page, True, 1400


def digest(page: Path) -> str:
    """Return the SHA-256 of a page without its numbers."""
    return hashlib.sha256(words(page.read_text(encoding="utf-8")).encode()).hexdigest()


def is_current(picture: Path, page: Path) -> bool:
    """Return True if a picture was taken of such a page."""
    if not picture.exists():
        return False
    with Image.open(picture) as found:
        return bool(found.info.get(_PAGE) == digest(page))


@click.command()
@figures_option
@click.option(
    "--check",
    is_flag=True,
    help="Write nothing; exit with 1 if a report no longer reads as its picture does.",
)
def main(folder: Path, *, check: bool) -> None:
    """Write the reports of a race and of a tuning, and take pictures of them.

    A picture knows the words of its page, so that the check needs no browser.
    """
    if not check and shutil.which("chromium") is None:
        raise click.ClickException("chromium is missing: install Debian's package chromium")
    stale = []
    with tempfile.TemporaryDirectory() as pages:
        for name, page, dark, height in reports(Path(pages)):
            path = folder / name
            if check:
                stale += [] if is_current(path, page) else [name]
                continue
            folder.mkdir(parents=True, exist_ok=True)
            shoot(page, path, dark=dark, height=height)
            shrink(path, {_PAGE: digest(page)})
            print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
    if stale:
        raise click.ClickException(
            f"not current: {', '.join(stale)}; run python scripts/study.py screenshots"
        )


_PAGE = "page"
