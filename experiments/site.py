"""Write the pages of the site, and build it with Zensical.

Run:  python scripts/study.py site                 # into site/
      python scripts/study.py site --pages build   # only the pages, for `zensical serve`

Links are written for the repository (`../experiments/tuner/README.md`). Files outside docs that a
page links to are copied to the same place in the site; README.md becomes the index.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote, urldefrag

import click

from racer import deciders
from racer.cli import main as racer_command
from racer.results import scores
from racer.scenario.irace_options import OPTIONS

__all__ = ["broken_links", "main", "page", "write_pages"]

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
USED = re.compile(r"""\b(?:href|src)=["']?((?!https?:|mailto:|data:|//)[^"'\s>]+)""")
ANCHOR = re.compile(r"""\bid=["']?([^"'\s>]+)""")


def in_site(path: str) -> str:
    """Return the place in the site of a file of the repository."""
    return "index.md" if path == "README.md" else path.removeprefix("docs/")


def linked(path: str, text: str) -> set[str]:
    """Return the files of the repository that a page links to."""
    folder = posixpath.dirname(path)
    return {posixpath.normpath(posixpath.join(folder, link)) for link in LINK.findall(text)}


def page(path: str, text: str) -> str:
    """Return a page of the repository as a page of the site: links turned, tables filled in."""
    folder, start = posixpath.dirname(path), posixpath.dirname(in_site(path))

    def turned(link: re.Match[str]) -> str:
        target = in_site(posixpath.normpath(posixpath.join(folder, link[1])))
        return f"]({posixpath.relpath(target, start or '.')}"

    text = LINK.sub(turned, text)
    for mark, fill in (
        ("<!-- scenario.schema.json -->", _schema),
        ("<!-- racer --help -->", _commands),
        ("<!-- columns of result.scores -->", _columns),
        ("<!-- names of racer.deciders -->", _deciders),
        ("<!-- options of irace -->", _irace_options),
    ):
        if mark in text:
            text = text.replace(mark, fill())
    return text


def write_pages(folder: Path) -> None:
    """Write mkdocs.yml and all pages, with the files that they link to, into an empty folder."""
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    ahead = ["README.md", *re.findall(r"\bexperiments/\w+/README\.md", config)]
    ahead += [str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*") if p.is_file()]
    seen = set()
    while ahead:
        path = ahead.pop()
        source = ROOT / path
        if path in seen or not source.is_file():  # Zensical names the links that lead nowhere
            continue
        seen.add(path)
        target = folder / "docs" / in_site(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".md"):
            text = source.read_text(encoding="utf-8")
            target.write_text(page(path, text), encoding="utf-8")
            ahead += linked(path, text) - seen
        else:
            shutil.copyfile(source, target)
    (folder / "mkdocs.yml").write_text(config, encoding="utf-8")


def broken_links(site: Path) -> list[str]:
    """Return the links of a built site, its navigation and pictures included, that lead nowhere."""
    pages = {p: p.read_text(encoding="utf-8") for p in site.rglob("*.html") if p.name != "404.html"}
    anchors = {path: set(ANCHOR.findall(text)) for path, text in pages.items()}
    broken = set()
    for path, text in pages.items():
        for link in USED.findall(text):
            address, anchor = map(unquote, urldefrag(html.unescape(link)))
            target = path if not address else (path.parent / address).resolve()
            target = target / "index.html" if target.is_dir() else target
            if not target.exists() or (anchor and anchor not in anchors.get(target, {anchor})):
                broken.add(f"{path.relative_to(site)}: {link}")
    return sorted(broken)


def _schema() -> str:
    """Return a table of the keys of scenario.toml."""
    schema = json.loads((ROOT / "docs" / "scenario.schema.json").read_text(encoding="utf-8"))
    rows = ["| key | type | |", "|---|---|---|"]
    for name, field in schema["properties"].items():
        kinds = field.get("type", "")
        values = " or ".join(f"`{json.dumps(value)}`" for value in field.get("enum", ()))
        kind = kinds if isinstance(kinds, str) else " or ".join(kinds)
        rows.append(f"| `{name}` | {values or kind} | {field.get('description', '')} |")
    return "\n".join(rows)


def _deciders() -> str:
    """Return an entry for each public name of the deciders, which a registry makes."""
    return "\n\n".join(f"::: racer.deciders.{name}" for name in deciders.__all__)


def _irace_options() -> str:
    """Return a table of the options of irace: the setting of each, or why it has none."""
    rows = ["| option | becomes |", "|---|---|"]
    for name, option in OPTIONS.items():
        reason = f"ignored: {option.ignored}" if option.ignored else f"refused: {option.refused}"
        rows.append(f"| `{name}` | {f'`{option.becomes}`' if option.becomes else reason} |")
    return "\n".join(rows)


def _columns() -> str:
    """Return a table of the columns of `result.scores`."""
    rows = [f"| `{column.name}` | {column.dtype} | {column.doc} |" for column in scores.COLUMNS]
    return "\n".join(["| column | type | |", "|---|---|---|", *rows])


def _commands() -> str:
    """Return the help of each command."""
    parts = []
    with click.Context(racer_command, info_name="racer", **racer_command.context_settings) as top:
        top.terminal_width = 80
        parts.append(f"```text\n{racer_command.get_help(top)}\n```")
        for name in racer_command.list_commands(top):
            if (command := racer_command.get_command(top, name)) is None:
                continue
            with click.Context(command, parent=top, info_name=name) as context:
                parts.append(f"## racer {name}\n\n```text\n{command.get_help(context)}\n```")
    return "\n\n".join(parts)


@click.command()
@click.option("--to", default="site", show_default=True, help="Folder of the site; replaced.")
@click.option("--pages", help="Write only the pages and mkdocs.yml, into this new folder.")
def main(to: str, pages: str | None) -> None:
    """Build the site; a warning, such as a link that leads nowhere, is an error."""
    if pages is not None:
        folder = Path(pages)
        if folder.exists():
            raise click.UsageError(f"{folder} exists; name a folder that is still to be made")
        write_pages(folder)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        write_pages(folder)
        built = [sys.executable, "-m", "zensical", "build", "--strict"]
        if subprocess.run(built, cwd=folder, check=False).returncode:  # noqa: S603
            raise click.ClickException("the site is not built: see the lines above")
        if broken := broken_links(folder / "site"):  # Zensical checks neither pictures nor nav
            raise click.ClickException("links that lead nowhere:\n" + "\n".join(broken))
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(folder / "site", to)
