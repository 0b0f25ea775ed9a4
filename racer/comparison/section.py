"""A section of a comparison: what each form of output shows of it."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from racer.comparison.render.tables import bullets, escape_latex, escape_markdown, sentences
from racer.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
        What a form of output cannot show: a text where a list belongs, or what is neither text
        nor table in one; a picture that cannot be called.

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
        for name in ("terminal", "markdown"):
            _check_list(getattr(self, name), name, _is_piece, "texts and DataFrames")
        _check_list(self.latex, "latex", _is_latex, "texts and pairs (DataFrame, its caption)")
        _check_list(self.prose, "prose", _is_text, "texts")
        pictures: Any = self.pictures
        if not isinstance(pictures, Mapping) or not all(
            isinstance(name, str) and callable(draw) for name, draw in pictures.items()
        ):
            raise SettingError(f"pictures={pictures!r}: give a dict of names to functions")

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

        Raises
        ------
        SettingError
            A title that is no text, a table that is no DataFrame, or notes that are no list of
            texts.
        """
        if not _is_text(title):
            raise SettingError(f"title={title!r}: give a text")
        if table is not None and not _is_frame(table):
            raise SettingError(f"table={reprlib.repr(table)}: give a DataFrame")
        _check_list(notes, "notes", _is_text, "texts")
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
            pictures={} if pictures is None else pictures,
        )


def _is_text(piece: object) -> bool:
    return isinstance(piece, str)


def _is_frame(piece: object) -> bool:
    import pandas as pd  # noqa: PLC0415

    return isinstance(piece, pd.DataFrame)


def _is_piece(piece: object) -> bool:
    return _is_text(piece) or _is_frame(piece)


def _is_latex(piece: Any) -> bool:
    if _is_text(piece):
        return True
    pair = isinstance(piece, tuple) and len(piece) == 2 and _is_frame(piece[0])
    return pair and isinstance(piece[1], list | tuple) and all(map(_is_text, piece[1]))


def _check_list(given: object, name: str, fits: Callable[[object], bool], what: str) -> None:
    """Raise unless this is a list or tuple whose pieces fit."""
    if not isinstance(given, list | tuple) or not all(map(fits, given)):
        raise SettingError(f"{name}={reprlib.repr(given)}: give a list of {what}")
