"""Sections for `print` and for notebooks, whose HTML takes colours and fonts from its page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from racer._entry import entries
from racer.render.escape import escape_html as escape
from racer.render.sections import Bold, Code, Grid, Section
from racer.render.text import as_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from racer.render.sections import Piece

__all__ = ["Displayed", "as_html"]


class Displayed:
    """Text for `print` and HTML for notebooks, of the pieces that a class returns."""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        entries(cls)

    def _pieces(self) -> Iterable[Piece]:
        """Return the HTML."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return as_text(self._pieces())

    def _repr_html_(self) -> str:
        return as_html(self._pieces())


def as_html(pieces: Iterable[Piece]) -> str:
    """Return sentences and tables as HTML, escaped; pictures are left out."""
    return f"<div>{''.join(_html(piece) for piece in pieces)}</div>"


def _html(piece: Piece) -> str:
    if isinstance(piece, str):
        return f"<p>{escape(piece)}</p>"
    if isinstance(piece, Grid):
        return _grid(piece)
    if isinstance(piece, Code):
        return f"<pre>{escape(piece.text)}</pre>"
    if isinstance(piece, Section):
        return f"<h4>{escape(piece.title)}</h4>{''.join(map(_html, piece.pieces))}"
    return ""


def _grid(grid: Grid) -> str:
    def row(tag: str, cells: tuple[str, ...]) -> str:
        inner = "".join(
            f'<{tag} style="text-align:{"right" if right else "left"}">{escape(cell)}{"*" * isinstance(cell, Bold)}</{tag}>'
            for cell, right in zip(cells, grid.right, strict=True)
        )
        return f"<tr>{inner}</tr>"

    title = f"<caption>{escape(grid.title)}</caption>" if grid.title else ""
    rows = "".join(row("td", cells) for cells in grid.rows)
    head = row("th", grid.head)
    return f"<table>{title}<thead>{head}</thead><tbody>{rows}</tbody></table>"
