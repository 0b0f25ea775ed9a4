"""Rates of words in docstrings and pages: how the project's English reads, in numbers.

Run:  python scripts/study.py voice
      python scripts/study.py voice --lines      # the places, too
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["HABITS", "OLD", "Text", "docstrings", "habits", "main", "pages", "rates"]

ROOT = Path(__file__).resolve().parent.parent
HABITS = {
    "what/who": re.compile(r"\b(?:what|who|whom)(?:ever)?\b", re.IGNORECASE),
    "tell/say": re.compile(r"\b(?:tell|tells|telling|told|say|says|saying|said)\b", re.IGNORECASE),
    "Say whether": re.compile(r"\bsay(?:s|ing)? whether\b", re.IGNORECASE),
}
FENCED = re.compile(r"^( *)(```+).*?^\1\2 *$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`]*`|\]\([^)]*\)|<!--.*?-->")  # names and the targets of links are no prose
QUESTION = re.compile(r"[^.:;!?|\n]*\?")
# an empty line; an item of a list, row of a table or heading; a parameter of a docstring
ITEM = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*>|#]|\d+\.) ?)|\n(?=\S[^\n]*\n +\S)")
# sentences of earlier days, each replaced by a plainer one
OLD = (
    "lost for a reason that is none of its own",
    "None if there is none, or not yet",
    "until the worker that it came to has the objective",
    "what a future was lost of",
    "An executor of the user's, which may have other things to do",
    '"""Say so."""',
    "Be the process of one evaluation",
    "what is not for it: all that it writes is rubbish",
    "Let the kernel choose this process",
    "other threads do not come along",
    "any that is wanted is not behind what went ahead",
    "what is known of a cell that is asked for",
    "with what was evaluated in vain",
    "How a result came about, and how long it took on the wall",
    "Take in what is known of races",
    "Go on as if each instance were used once",
    "blocks that are set aside by its own numbers",
    "whatever the decider would say of them",
    "what is one step nearer to the target",
    "say around which elites hardly any could be taken",
    "what two vectors share that have the same parameters",
    "drafts to look at before a child is given up",
    "What an earlier result says of its survivors",
    "what is raised where recorded values make no sense",
    "that samples as the one in the store did",
    "an outcome that nobody can have asked for",
    "Say whether n are in the net",
    "nothing is named that evaluates",
    "Watch blocks that use an instance again",
    "a few blocks can rule a mean",
    "that nobody had yet, gets another chance",
    "may use three times what it may",
    "what stood before",
    "it is looked at 20 times a second",
    "those of a tuning go ahead that will be its elites",
)


class Text(NamedTuple):
    """A docstring or a page, and its place: file:line of a docstring, file of a page."""

    place: str
    text: str

    @property
    def prose(self) -> str:
        """The text without code, targets of links and direct questions."""
        return QUESTION.sub(" ", CODE.sub(" ", FENCED.sub("\n\n", self.text)))

    @property
    def words(self) -> int:
        """Number of words, code included, as `wc -w` counts them."""
        return len(self.text.split())

    @property
    def longest_paragraph(self) -> int:
        """Number of words of the longest paragraph or item of a list; tables are not counted."""
        items = ITEM.split(FENCED.sub("\n\n", self.text))
        return max((len(item.split()) for item in items if item[:1] != "|"), default=0)


def docstrings(room: Path = ROOT / "racer") -> Iterator[Text]:
    """Yield all docstrings of the modules below `room`."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for path in sorted(room.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kinds) and (text := ast.get_docstring(node)):
                yield Text(f"{path.relative_to(ROOT)}:{node.body[0].lineno}", text)


def pages() -> Iterator[Text]:
    """Yield the README and all pages of the documentation."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        yield Text(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))


def how_to() -> list[str]:
    """Return the pages that the navigation lists before "Reference" and as explanations."""
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    sections = re.split(r"^  - (\w[\w-]*):\n", navigation, flags=re.MULTILINE)[1:]
    read = dict(zip(sections[::2], sections[1::2], strict=True))
    chosen = [read[name] for name in ("Start", "Tutorials", "How-to", "Explanation")]
    names = re.findall(r": (\S+\.md)$", "".join(chosen), re.MULTILINE)
    return ["README.md" if name == "index.md" else f"docs/{name}" for name in names]


def habits(texts: list[Text]) -> pd.DataFrame:
    """Return each use of a habitual word: columns habit, place, text (its surroundings)."""
    rows = [
        {
            "habit": name,
            "place": text.place,
            "text": " ".join(prose[max(found.start() - 40, 0) : found.end() + 40].split()),
        }
        for text in texts
        for prose in [text.prose]
        for name, pattern in HABITS.items()
        for found in pattern.finditer(prose)
    ]
    return pd.DataFrame(rows, columns=["habit", "place", "text"])


def rates(texts: list[Text]) -> dict[str, float]:
    """Return by habit its uses per 1 000 words; of "Say whether" their number."""
    words = sum(text.words for text in texts)
    uses = habits(texts)["habit"].value_counts()
    each = {name: 1000 * int(uses.get(name, 0)) / words for name in HABITS}
    return each | {"Say whether": int(uses.get("Say whether", 0))}


def old_sentences() -> list[tuple[str, str]]:
    """Return the sentences of OLD that are still there, with the file of each."""
    files = [*(ROOT / "racer").rglob("*.py"), *(ROOT / "docs").rglob("*.md")]
    flat = {path: " ".join(path.read_text(encoding="utf-8").split()) for path in files}
    return [
        (str(path.relative_to(ROOT)), old)
        for old in OLD
        for path, text in flat.items()
        if old in text
    ]


@click.command()
@click.option("--lines", is_flag=True, help="Print each use with its surroundings.")
def main(lines: bool) -> None:
    """Measure how the project's English reads."""
    groups = {"docstrings": list(docstrings()), "docs": list(pages())}
    if lines:
        for texts in groups.values():
            for habit, place, text in habits(texts).itertuples(index=False):
                click.echo(f"{place}: {habit}: {text}")
    for name, texts in groups.items():
        words = sum(text.words for text in texts)
        click.echo(f"{name}: {len(texts)} texts, {words} words")
        for habit, rate in rates(texts).items():
            click.echo(f"  {habit}: {rate:.2f}" + " per 1 000 words" * (habit != "Say whether"))
        long = [text for text in texts if text.longest_paragraph > 120]
        click.echo(f"  texts with a paragraph of more than 120 words: {len(long)}")
        for text in long:
            click.echo(f"    {text.place}: {text.longest_paragraph}")
    over = [text for text in groups["docs"] if text.place in how_to() and text.words > 900]
    click.echo(f"how-to pages of more than 900 words: {len(over)}")
    for text in sorted(over, key=lambda text: -text.words):
        click.echo(f"  {text.place}: {text.words}")
    left = old_sentences()
    click.echo(f"old sentences left: {len(left)}")
    for path, old in left:
        click.echo(f"  {path}: {old}")


if __name__ == "__main__":
    main()
