"""A comparison in each form: text, Markdown, LaTeX and sentences for a paper."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

from racer._checks import counted
from racer.comparison.render import prose
from racer.comparison.render.tables import as_grid, letters, matrix_grid, pairs_grid, scores_grid
from racer.render.escape import escape_markdown, one_line
from racer.render.markup import bullets, latex_table, markdown_table
from racer.render.text import folded, grid_text, narrowed, slim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from matplotlib.axes import Axes

    from racer.comparison.data import ComparisonData, Named
    from racer.render.sections import Grid

    Draw = Callable[[Axes | None], Axes]

_WIDTH, _COLUMN = 80, 66  # letters of a terminal, and of a line of a paper
_LETTERS = "Algorithms that share a letter are not separated"
_MOST_PAIRS, _FIRST = 1000, 30  # of more pairs so many are printed


class AddedSection(NamedTuple):
    """A section that is shown after the standard sections of a comparison."""

    title: str
    grid: Grid
    notes: tuple[str, ...] = ()

    def noted(self, mark: str) -> list[str]:
        """Return the notes, with the legend of the table's marks."""
        return [*([f"{mark}: {self.grid.mark}"] if self.grid.mark else []), *self.notes]


def named_section(comparison: ComparisonData, name: Named) -> AddedSection | None:
    """Return a section that is shown if asked for, None if it is shown anyway."""
    if name == "scores":
        grid, notes = scores_grid(comparison)
        return AddedSection("Scores", grid, tuple(notes))
    if name == "matrix":
        grid, title = matrix_grid(comparison)
        return AddedSection(title, grid)
    if not _has_letters(comparison) and len(comparison.pairs) <= _MOST_PAIRS:
        return None
    return AddedSection("Pairs", pairs_grid(comparison.pairs))


def _ranking(comparison: ComparisonData) -> Grid:
    """Return the ranking, with compact letters where there are too many pairs to show."""
    frame = comparison.ranking
    if _has_letters(comparison):
        frame = frame.copy()
        frame.insert(1, "letters", letters(comparison))
    return as_grid(frame)


def _has_letters(comparison: ComparisonData) -> bool:
    return 15 < len(comparison.pairs) <= _MOST_PAIRS and comparison.control is None


def _by_letters(comparison: ComparisonData) -> str:
    return f"{_LETTERS}. All {len(comparison.pairs)} pairs: `pairs`, or --with pairs"


def _pairs(comparison: ComparisonData) -> list[str | Grid]:
    """Return the pairs for a terminal; of very many, the first."""
    pairs, n_pairs = comparison.pairs, len(comparison.pairs)
    if n_pairs <= _MOST_PAIRS:
        return ["Pairs", pairs_grid(pairs)]
    more = f"(the first {_FIRST} of {n_pairs}: see `pairs`)"
    return ["Pairs", pairs_grid(pairs[:_FIRST]), more]


def text_pieces(comparison: ComparisonData, added: Iterable[AddedSection] = ()) -> list[str | Grid]:
    """Return the lines and tables of text, for a terminal or a notebook."""
    pieces: list[str | Grid] = [
        comparison.title,
        *_facts(comparison),
        f"\nRanking by {comparison.order}",
        _ranking(comparison),
        *(f"{sentence}\n" for sentence in _likeliest(comparison)),
        *([_by_letters(comparison)] if _has_letters(comparison) else _pairs(comparison)),
        f"better: {comparison.meaning}",
        *(f"- {note}" for note in comparison.explained),
    ]
    for section in added:
        notes = (f"- {note}" for note in section.noted("*"))
        pieces += [f"\n{section.title}", section.grid, *notes]
    return pieces


def as_text(pieces: Iterable[str | Grid]) -> str:
    """Return lines and tables as plain text in 80 columns; a table without room is split."""
    lines = []
    for piece in pieces:
        if isinstance(piece, str):
            lines.append(folded(piece, _WIDTH, "  " if piece.startswith("- ") else ""))
        else:
            grid, left_out = narrowed(piece, _WIDTH, _wrapped)
            lines.append(f"\n{grid_text(grid, _WIDTH, _wrapped)}\n")
            if left_out:
                lines.append(f"(no room for {', '.join(left_out)}: see `pairs`)")
    return "\n".join(line.rstrip() for line in "\n".join(lines).split("\n"))


def _wrapped(head: str) -> str:
    return fill(head.replace("/tied", " /tied"), 7, break_long_words=False)


def as_markdown(comparison: ComparisonData, added: Iterable[AddedSection]) -> str:
    """Return the subject, the tables and the notes."""
    words = f"Ranking by {comparison.order}; better: {comparison.meaning}."
    more = [_by_letters(comparison) + "."] if _has_letters(comparison) else []
    parts = [
        f"**{escape_markdown(comparison.title)}**",
        escape_markdown(f"{'. '.join(_facts(comparison))}."),
        markdown_table(_ranking(comparison)),
        *([] if more else [markdown_table(pairs_grid(comparison.pairs))]),
        bullets([words, *_likeliest(comparison), *more, *comparison.explained]),
    ]
    for section in added:
        notes = section.noted("In bold")
        parts += [f"**{escape_markdown(section.title)}**", markdown_table(section.grid)]
        parts += [bullets(notes)] if notes else []
    return "\n\n".join(parts)


def as_latex(comparison: ComparisonData, added: Iterable[AddedSection]) -> str:
    """Return the tables, with the subject and the notes in their captions."""
    title = comparison.title
    ranking = [f"Ranking by {comparison.order}. {title}", *_facts(comparison)]
    ranking += _likeliest(comparison)
    explained = [f"better: {comparison.meaning}", *comparison.explained]
    if _has_letters(comparison):
        ranking += [_LETTERS, *explained]
        parts = [latex_table(_ranking(comparison), _sentences(ranking))]
    else:
        pairs = [f"Pairs of algorithms. {title}; {explained[0]}", *explained[1:]]
        parts = [
            latex_table(_ranking(comparison), _sentences(ranking)),
            latex_table(
                narrowed(pairs_grid(comparison.pairs), _COLUMN, slim)[0], _sentences(pairs)
            ),
        ]
    for section in added:
        caption = _sentences([section.title, *section.noted("In bold")])
        parts.append(latex_table(section.grid, caption))
    return "\n\n".join(parts)


def as_prose(comparison: ComparisonData) -> str:
    """Return a paragraph for a paper, as text in which no name breaks a line."""
    sentences = [
        prose.compared(comparison),
        *prose.all_alike(comparison),
        prose.ranked(comparison),
        prose.leader(comparison),
        prose.meaning(comparison),
        *comparison.notes,
        prose.computed(comparison),
    ]
    return one_line(" ".join(sentences))


def _facts(comparison: ComparisonData) -> list[str]:
    """Return the subject, and the result of the omnibus test, if there is one."""
    folds = f" ({comparison.n_folds} folds)" if comparison.n_folds > 1 else ""
    facts = [
        f"{counted(len(comparison.algorithms), 'algorithm')} on "
        f"{comparison.basis}{folds}; {comparison.direction}"
        + (f"; control {comparison.control}" if comparison.control else "")
    ]
    if comparison.omnibus is not None:
        test = comparison.omnibus
        verdict = "rejected" if test.rejected else "not rejected"
        facts.append(
            f"The hypothesis that all perform alike is {verdict}: {test.test}, {test.found}, "
            f"{prose.tail(test)}"
        )
    return facts


def _likeliest(comparison: ComparisonData) -> list[str]:
    """Return a sentence where P(best) is no part of the method, or as shown has another order."""
    chances = comparison.ranking["probability_best"].tolist()
    shown = [f"{chance:.2f}" for chance in chances]
    if shown == sorted(shown, reverse=True):
        beside = (
            "P(best) is a posterior probability, by the scores themselves: no part of the test."
        )
        return [beside] if "p_value" in comparison.pairs else []
    first = comparison.ranking["algorithm"][chances.index(max(chances))]
    said = f"so its order is another: {first} comes first ({max(shown)})"
    return [f"P(best) compares the scores themselves, {said}."]


def _sentences(texts: Iterable[str]) -> str:
    """Return sentences as a paragraph, each with its full stop."""
    return " ".join(f"{text.rstrip('.')}." for text in texts)
