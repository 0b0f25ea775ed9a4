"""Tables of text: Markdown, LaTeX, and what a number looks like in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from racer.comparison.methods.base import many

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from racer.comparison.record import Record

__all__ = ["cells", "escape_latex", "escape_markdown", "facts", "latex", "markdown", "shown"]

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
_SHARES = {"probability_best", "p_value", "probability", "probability_worse", "in_rope", "joint"}
_SHARES |= {"lower", "upper", "top_1", "top_2", "top_3"}
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
    if column in _SHARES:
        if value < 0.0005:
            return "<0.001"
        if 0.9995 <= value < 1.0:
            return ">0.999"
    return f"{value:.3f}"


def facts(comparison: Record) -> list[str]:
    """Return what was compared, and what the test of all of them says, if there is one."""
    folds = f" ({comparison.n_folds} folds)" if comparison.n_folds > 1 else ""
    said = [
        f"{many(len(comparison.algorithms), 'algorithm')} on "
        f"{many(len(comparison.data_sets), 'data set')}{folds}; "
        f"{'larger' if comparison.maximize else 'smaller'} is better"
        + (f"; control {comparison.control}" if comparison.control else "")
    ]
    if comparison.omnibus is not None:
        test = comparison.omnibus
        p = shown(test.probability, "p_value")
        verdict = "rejected" if test.rejected else "not rejected"
        said.append(
            f"That all are alike is {verdict}: {test.test}, F = {test.statistic:.2f}, tail {p}"
        )
    return said


def cells(frame: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of a frame as text."""
    names = [str(name) for name in frame]
    head = [HEADS.get(name, name) for name in names]
    rows = [
        [shown(value, name) for name, value in zip(names, row, strict=True)]
        for row in zip(*(frame[name].tolist() for name in names), strict=True)
    ]
    return head, rows


def escape_markdown(text: str) -> str:
    """Return text that Markdown leaves as it is."""
    return "".join(_MARKDOWN.get(char, char) for char in text)


def escape_latex(text: str) -> str:
    """Return text that LaTeX leaves as it is."""
    return "".join(_LATEX.get(char, char) for char in text)


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
    r"""Return a LaTeX table of the booktabs package; text is escaped here.

    Parameters
    ----------
    head, rows : text
    caption : str
    align : str
        A letter per column, "l" or "r".
    """
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
