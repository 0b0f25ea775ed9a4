"""Tables of text: Markdown, LaTeX, and what a number looks like in them."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from racer._numerics import shown_probability
from racer.comparison.columns import is_numeric

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HEADS = {
    "mean_rank": "mean rank",
    "probability_best": "P(best)",
    "expected_rank": "expected rank",
    "top_1": "P(top 1)",
    "top_2": "P(top 2)",
    "top_3": "P(top 3)",
    "won": "won/lost/tied",
    "effect_size": "effect size",
    "rank_difference": "rank difference",
    "p_value": "p",
    "probability": "P better",
    "probability_worse": "P worse",
    "in_rope": "P in rope",
    "joint": "P all so far",
}
_PROBABILITIES = {
    "probability_best",
    "p_value",
    "probability",
    "probability_worse",
    "in_rope",
    "joint",
}
_PROBABILITIES |= {"lower", "upper", "top_1", "top_2", "top_3"}
DISPENSABLE = (
    "dispensable"  # attribute of a frame: columns left out, in this order, if it is too wide
)
_IN_UNITS = {"mean", "sd"}  # of the scores
_LATEX = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "\n": " ",
}
_MARKDOWN = {**{char: f"\\{char}" for char in "\\|*_`<>[]"}, "\n": " "}


class Figure(str):
    """Numbers as text: they stand on the right, in bold if they are to be seen first."""

    __slots__ = ("bold",)
    bold: bool

    def __new__(cls, text: str, *, bold: bool = False) -> Self:
        """Make one."""
        figure = super().__new__(cls, text)
        figure.bold = bold
        return figure


def shown(value: Any, column: str) -> str:
    """Return a value as it stands in a table: three decimals, and no probability 0 or 1."""
    if isinstance(value, str):
        return value
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "-"
    if column == "p_value" and value >= 0.0005:
        return f"{value:.3f}"
    return shown_probability(value) if column in _PROBABILITIES else f"{value:.3f}"


def figures(values: Sequence[float], among: Iterable[float] | None = None) -> list[str]:
    """Return numbers with the decimals of those `among` which they stand, at most four digits."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0) or 1.0
    most = max(0, 3 - math.floor(math.log10(largest)))
    known = [v for v in (values if among is None else among) if math.isfinite(v)]
    needed = (d for d in range(most) if all(math.isclose(v, round(v, d)) for v in known))
    form = f".{next(needed, most)}f" if 1e-3 <= largest < 1e7 else ".3e"
    return ["-" if math.isnan(value) else f"{value:{form}}" for value in values]


def compact(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of pairs with its counts in one column, and its intervals in another."""
    won = pairs[["wins", "losses", "ties"]].to_numpy().tolist()
    merged = {"won": ["/".join(map(str, counts)) for counts in won]}
    if "low" in pairs:
        ends = pairs[["low", "high"]].to_numpy().tolist()
        merged["interval"] = [f"{low:.3f} to {high:.3f}" for low, high in ends]
    place = {"won": "wins", "interval": "low"}
    pairs = pairs.copy()
    for name, texts in merged.items():
        column = pd.Series([Figure(text) for text in texts], index=pairs.index, dtype=object)
        pairs.insert(list(pairs).index(place[name]), name, column)
    pairs = pairs.drop(columns=[c for c in ("wins", "losses", "ties", "low", "high") if c in pairs])
    pairs.attrs[DISPENSABLE] = [c for c in ("interval", "effect_size", "estimate") if c in pairs]
    return pairs


def cells(frame: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of a frame as text."""
    head = [HEADS.get(str(name), str(name)) for name in frame]
    columns = [
        figures(column.tolist())
        if name in _IN_UNITS and is_numeric(column)
        else [shown(value, str(name)) for value in column.tolist()]
        for name, column in frame.items()
    ]
    return head, [list(row) for row in zip(*columns, strict=True)]


def on_the_right(frame: pd.DataFrame) -> list[bool]:
    """Say of each column whether it holds numbers, which stand on the right."""
    return [
        is_numeric(column) or all(isinstance(value, Figure) for value in column)
        for _, column in frame.items()
    ]


def escape_markdown(text: str) -> str:
    """Return text that Markdown leaves as it is, a bold figure marked."""
    escaped = "".join(_MARKDOWN.get(char, char) for char in text)
    return f"**{escaped}**" if _is_bold(text) else escaped


def escape_latex(text: str) -> str:
    """Return text that LaTeX leaves as it is, a bold figure marked."""
    escaped = "".join(_LATEX.get(char, char) for char in text)
    return rf"\textbf{{{escaped}}}" if _is_bold(text) else escaped


def _is_bold(text: str) -> bool:
    return isinstance(text, Figure) and text.bold


def sentences(said: Iterable[str]) -> str:
    """Return sentences as a paragraph, each with its full stop."""
    return " ".join(f"{sentence.rstrip('.')}." for sentence in said)


def bullets(notes: Iterable[str]) -> str:
    """Return a Markdown list; notes are escaped here."""
    return "\n".join(f"- {escape_markdown(note)}" for note in notes)


def markdown_table(frame: pd.DataFrame) -> str:
    """Return a frame as a Markdown table."""
    head, rows = cells(frame)
    escaped = [[escape_markdown(text) for text in row] for row in (head, *rows)]
    return markdown(escaped[0], escaped[1:])


def latex_table(frame: pd.DataFrame, said: Iterable[str]) -> str:
    """Return a frame as a LaTeX table, with sentences for its caption, the first for its label."""
    (head, rows), caption = cells(frame), sentences(said)
    align = "".join("r" if right else "l" for right in on_the_right(frame))
    return latex(head, rows, caption=caption, align=align)


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with columns padded to their widths; cells are taken as they are."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    padded = [
        "| " + " | ".join(text.ljust(w) for text, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    return "\n".join([padded[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *padded[1:]])


def latex(head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str, align: str) -> str:
    """Return a LaTeX table of the booktabs package; text is escaped here."""
    lines = [" & ".join(escape_latex(text) for text in row) + r" \\" for row in (head, *rows)]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape_latex(caption)}}}",
            rf"\label{{tab:{_slug(caption)}}}",
            rf"\begin{{tabular}}{{{align}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _slug(caption: str) -> str:
    """Return the first sentence of a caption as a label."""
    return "-".join(re.findall(r"[a-z0-9]+", caption.partition(".")[0].casefold()))
