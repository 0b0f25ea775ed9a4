"""Tables and sentences as Markdown and LaTeX, escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from racer.render.escape import escape_latex, escape_markdown
from racer.render.sections import Bold
from racer.render.text import slim

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from racer.render.sections import Grid

# the idiom for "as wide as the line at most"
_NO_WIDER = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}"


def _markdown(cell: str) -> str:
    """Return a cell for Markdown, in bold if it is marked."""
    escaped = escape_markdown(cell)
    return f"**{escaped}**" if isinstance(cell, Bold) else escaped


def _latex(cell: str) -> str:
    """Return a cell for LaTeX, in bold if it is marked."""
    escaped = escape_latex(cell)
    return rf"\textbf{{{escaped}}}" if isinstance(cell, Bold) else escaped


def bullets(notes: Iterable[str]) -> str:
    """Return a Markdown list of sentences."""
    return "\n".join(f"- {escape_markdown(note)}" for note in notes)


def markdown_table(grid: Grid) -> str:
    """Return a Markdown table."""
    head, *rows = ([_markdown(cell) for cell in row] for row in (grid.head, *grid.rows))
    return markdown(head, rows)


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with columns padded to their widths; cells are taken as they are."""
    lines = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = [
        "| " + " | ".join(text.ljust(w) for text, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    return "\n".join([padded[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *padded[1:]])


def latex_table(grid: Grid, caption: str) -> str:
    """Return a table for LaTeX with booktabs and graphicx, by which a wide one fits the page.

    Its label is the caption's first sentence. Heads of figures stand in several lines.
    """
    heads = [slim(h) if right else h for h, right in zip(grid.head, grid.right, strict=True)]
    stacked = (r" \\ ".join(map(escape_latex, head.split("\n"))) for head in heads)
    head = " & ".join(rf"\shortstack{{{one}}}" if r" \\ " in one else one for one in stacked)
    rows = [" & ".join(map(_latex, row)) + r" \\" for row in grid.rows]
    label = "-".join(re.findall(r"[a-z0-9]+", caption.partition(".")[0].casefold()))
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering\small",
            rf"\caption{{{escape_latex(caption)}}}",
            rf"\label{{tab:{label}}}",
            rf"{_NO_WIDER}{{\begin{{tabular}}{{{''.join('r' if right else 'l' for right in grid.right)}}}",
            r"\toprule",
            rf"{head} \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table}",
        ]
    )
