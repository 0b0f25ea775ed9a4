"""For mkdocs: the README, the changelog and the studies' pages stand in the site, too.

Links are written for the repository (`../experiments/tuner/README.md`). What they lead to outside
of docs is put into the site, in the place that it has in the repository; README.md is the index.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click
from mkdocs.structure.files import File

from racer import deciders
from racer.cli import main
from racer.results import scores

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")

# what a page leaves to be filled in
SCHEMA = "<!-- scenario.schema.json -->"
COMMANDS = "<!-- racer --help -->"
COLUMNS = "<!-- columns of result.scores -->"
DECIDERS = "<!-- names of racer.deciders -->"


def in_site(path: str) -> str:
    """Return where in the site a file of the repository stands."""
    return "index.md" if path == "README.md" else path.removeprefix("docs/")


def in_repository(uri: str) -> str:
    """Return which file of the repository stands there in the site."""
    if uri == "index.md":
        return "README.md"
    return f"docs/{uri}" if (ROOT / "docs" / uri).exists() else uri


def linked(path: str) -> set[str]:
    """Return the files of the repository that a page links to."""
    folder = posixpath.dirname(path)
    text = (ROOT / path).read_text(encoding="utf-8")
    return {posixpath.normpath(posixpath.join(folder, link)) for link in LINK.findall(text)}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the README, and all that the navigation and pages that are there lead to."""
    here = [f"docs/{file.src_uri}" for file in files.documentation_pages()]
    studies = re.findall(r"experiments/\w+/README\.md", str(config.nav))
    seen, ahead = set(here), ["README.md", *studies, *here]
    while ahead:
        path = ahead.pop()
        if path not in seen and not path.startswith("docs/") and (ROOT / path).is_file():
            files.append(File.generated(config, in_site(path), abs_src_path=str(ROOT / path)))
        if path.endswith(".md") and (ROOT / path).is_file():
            ahead += linked(path) - seen
        seen.add(path)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links within the repository into links within the site; fill in what is left open."""
    del config, files
    folder = posixpath.dirname(in_repository(page.file.src_uri))
    start = posixpath.dirname(page.file.src_uri)

    def turned(link: re.Match[str]) -> str:
        target = in_site(posixpath.normpath(posixpath.join(folder, link[1])))
        return f"]({posixpath.relpath(target, start)}"

    markdown = LINK.sub(turned, markdown)
    for mark, fill in (
        *((SCHEMA, _schema), (COMMANDS, _commands)),
        *((COLUMNS, _columns), (DECIDERS, _deciders)),
    ):
        if mark in markdown:
            markdown = markdown.replace(mark, fill())
    return markdown


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


def _columns() -> str:
    """Return a table of the columns of `result.scores`."""
    rows = [f"| `{column.name}` | {column.dtype} | {column.doc} |" for column in scores.COLUMNS]
    return "\n".join(["| column | type | |", "|---|---|---|", *rows])


def _commands() -> str:
    """Return what each command says with --help."""
    said = []
    with click.Context(main, info_name="racer", **main.context_settings) as top:
        top.terminal_width = 88
        said.append(f"```text\n{main.get_help(top)}\n```")
        for name in main.list_commands(top):
            command = main.get_command(top, name)
            with click.Context(command, parent=top, info_name=name) as context:
                said.append(f"## racer {name}\n\n```text\n{command.get_help(context)}\n```")
    return "\n\n".join(said)
