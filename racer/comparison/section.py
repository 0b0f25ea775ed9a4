"""A section of a comparison: what each form of output shows of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from racer.comparison.render.tables import bullets, escape_latex, escape_markdown, sentences
from racer.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes

    Draw = Callable[[Axes | None], Axes]


@dataclass(frozen=True, eq=False, kw_only=True)
class Section:
    """A section of a comparison; a form of output that it leaves empty does not show it.

    `Comparison.with_section` adds one. `Section.titled` makes one for all forms of output.

    Parameters
    ----------
    terminal : sequence of str or DataFrame
        Lines and tables.
    markdown : sequence of str or DataFrame
        Paragraphs of Markdown, and tables.
    latex : sequence of str, or of pairs of a DataFrame and its caption
        Paragraphs of LaTeX, and tables; a caption is a list of sentences, which are escaped.
    prose : sequence of str
        Sentences.
    pictures : dict of str to callable
        What ``Comparison.plot(name)`` draws: called with the axes given, or None, it returns
        those that it drew on.

    Raises
    ------
    SettingError
        A text where a sequence of texts belongs.

    Examples
    --------
    >>> import racer
    >>> comparison = racer.compare([[1, 2], [1, 3], [2, 4]], "friedman")
    >>> note = Section(terminal=["Run on one core."], prose=["All was run on one core."])
    >>> str(comparison.with_section(note)).splitlines()[-1]
    'Run on one core.'
    """

    terminal: Sequence[str | pd.DataFrame] = ()
    markdown: Sequence[str | pd.DataFrame] = ()
    latex: Sequence[str | tuple[pd.DataFrame, Sequence[str]]] = ()
    prose: Sequence[str] = ()
    pictures: Mapping[str, Draw] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("terminal", "markdown", "latex", "prose"):
            _check_list(getattr(self, name), name)

    @classmethod
    def titled(
        cls,
        title: str,
        table: pd.DataFrame | None = None,
        *,
        notes: Sequence[str] = (),
        prose: Sequence[str] = (),
        pictures: Mapping[str, Draw] | None = None,
    ) -> Section:
        """Make a section of a title, a table and notes.

        Parameters
        ----------
        title : str
            Above the table; in LaTeX its caption begins with it.
        table : DataFrame, optional
            Columns of numbers stand on the right, with three decimals where they have any; its
            index is not shown.
        notes : sequence of str
            Sentences below the table; in LaTeX in its caption.
        prose : sequence of str
            Sentences for `Comparison.prose`.
        pictures : dict of str to callable, optional
            As in `Section`.
        """
        _check_list(notes, "notes")
        tables = [] if table is None else [table]
        said = (title, *notes)
        return cls(
            terminal=[f"\n{title}", *tables, *(f"- {note}" for note in notes)],
            markdown=[
                f"**{escape_markdown(title)}**",
                *tables,
                *([bullets(notes)] if notes else []),
            ],
            latex=[(each, said) for each in tables] or [escape_latex(sentences(said))],
            prose=prose,
            pictures=pictures or {},
        )


def _check_list(given: object, name: str) -> None:
    if isinstance(given, str):
        raise SettingError(f"{name}={given!r}: give a list of texts")
