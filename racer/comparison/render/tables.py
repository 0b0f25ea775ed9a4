"""Tables of text: Markdown, LaTeX, and what a number looks like in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from racer.comparison.columns import is_numeric

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

HEADS = {
    "mean_rank": "mean rank",
    "probability_best": "P(best)",
    "expected_rank": "expected rank",
    "top_1": "P(top 1)",
    "top_2": "P(top 2)",
    "top_3": "P(top 3)",
    "rank_difference": "rank difference",
    "p_value": "p",
    "probability": "P(better)",
    "probability_worse": "P(worse)",
    "in_rope": "P(equivalent)",
    "joint": "P(all so far)",
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


def shown(value: Any, column: str) -> str:
    """Return a value as it stands in a table: three decimals, and no probability rounded to 0."""
    if not isinstance(value, float):
        return str(value)
    if column in _PROBABILITIES:
        if value < 0.0005:
            return "<0.001"
        if 0.9995 <= value < 1.0:
            return ">0.999"
    return f"{value:.3f}"


def cells(frame: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of a frame as text."""
    head = [HEADS.get(str(name), str(name)) for name in frame]
    columns = [
        [shown(value, str(name)) for value in column.tolist()] for name, column in frame.items()
    ]
    return head, [list(row) for row in zip(*columns, strict=True)]


def on_the_right(frame: pd.DataFrame) -> list[bool]:
    """Say of each column whether it holds numbers, which stand on the right."""
    return [is_numeric(column) for _, column in frame.items()]


def escape_markdown(text: str) -> str:
    """Return text that Markdown leaves as it is."""
    return "".join(_MARKDOWN.get(char, char) for char in text)


def escape_latex(text: str) -> str:
    """Return text that LaTeX leaves as it is."""
    return "".join(_LATEX.get(char, char) for char in text)


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
    """Return a frame as a LaTeX table, with sentences for its caption."""
    head, rows = cells(frame)
    align = "".join("r" if right else "l" for right in on_the_right(frame))
    return latex(head, rows, caption=sentences(said), align=align)


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
