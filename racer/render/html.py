"""Sections as one page: HTML with its pictures in it, which needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib.metadata import version
from io import BytesIO, StringIO
from itertools import count
from typing import TYPE_CHECKING, Any

from racer._files import as_path, write_text
from racer.errors import MissingExtraError
from racer.render.escape import in_json, printable
from racer.render.sections import Bold, Code, Drawing, Grid, Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    from racer.render.sections import Piece


_SCRIPT = """
for (const head of document.querySelectorAll("th")) head.addEventListener("click", () => {
  const table = head.closest("table"), body = table.tBodies[0], at = head.cellIndex;
  const up = head.getAttribute("aria-sort") !== "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const key = row => row.cells[at].textContent.replace(/^[#<>]/, "");
  [...body.rows].sort((a, b) => {
    const x = key(a), y = key(b), d = x - y;
    return (Number.isNaN(d) ? x.localeCompare(y) : d) * (up ? 1 : -1);
  }).forEach(row => body.append(row));
});
"""
_SETTINGS: Any = {  # text as text, in a font as wide as those that browsers have
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
}


def as_page(
    title: str,
    subtitle: str,
    verdict: Sequence[str],
    sections: Iterable[Section],
    data: dict[str, Any],
) -> str:
    """Return the page; `data` stand in it as JSON.

    Raises
    ------
    MissingExtraError
        Without Jinja or matplotlib (``pip install 'racer-tuning[report]'``).
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415
        from markupsafe import Markup  # noqa: PLC0415
        from matplotlib import rc_context  # noqa: PLC0415  (an extra)
    except ImportError as error:
        raise MissingExtraError(
            f"reports need {error.name}, which is not installed: pip install 'racer-tuning[report]'"
        ) from error
    environment = Environment(
        loader=PackageLoader("racer", "render"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) in {str, Bold} else value,
    )
    numbers = count(1)
    with rc_context(_SETTINGS):
        shown = [{"title": s.title, "pieces": _pieces(s, numbers, Markup)} for s in sections]
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
    return environment.get_template("page.html").render(
        title=title,
        subtitle=subtitle,
        verdict=verdict,
        sections=shown,
        version=version("racer-tuning"),
        data=Markup(_json(data)),  # noqa: S704  (escaped by itself)
        script=Markup(_SCRIPT),  # noqa: S704
        script_hash=f"sha256-{digest}",
    )


def write_page(path: str | PathLike[str], page: str) -> None:
    """Write a page to a file, in place of an older one; refuse to replace a store."""
    write_text(as_path(path, "path"), page)


def _pieces(section: Section, numbers: Iterator[int], markup: Any) -> list[dict[str, Any]]:
    pieces = [_piece(piece, numbers, markup) for piece in section.pieces]
    return [{"kind": "folded", "title": "Show", "pieces": pieces}] if section.is_folded else pieces


def _piece(piece: Piece, numbers: Iterator[int], markup: Any) -> dict[str, Any]:
    if isinstance(piece, str):
        return {"kind": "text", "text": piece}
    if isinstance(piece, Code):
        return {"kind": "code", "text": piece.text}
    if isinstance(piece, Grid):
        rows = [list(zip(row, piece.right, strict=True)) for row in piece.rows]
        head = list(zip(piece.head, piece.right, strict=True))
        return {"kind": "table", "title": piece.title, "head": head, "rows": rows}
    if isinstance(piece, Drawing):
        number = next(numbers)
        svg = markup(_svg(piece, number))
        return {"kind": "figure", "svg": svg, "words": piece.words, "number": number}
    inner = [_piece(one, numbers, markup) for one in piece.pieces]
    return {"kind": "folded", "title": piece.title, "pieces": inner}


def _svg(drawing: Drawing, number: int) -> str:
    """Return a picture as an element: SVG whose names are its own, or PNG where that is smaller."""
    from matplotlib import rc_context  # noqa: PLC0415
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415

    figure = drawing.figure()
    figure.set_dpi(72)  # by its canvas: savefig draws all once more, to lay it out
    file = StringIO()
    # names in SVG are hashed with a random salt otherwise: pages of equal results would differ
    with rc_context({"svg.hashsalt": f"racer {number}"}):
        FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None})  # type: ignore[no-untyped-call]
    text = printable(file.getvalue())
    text = text[text.index("<svg") :].strip()
    text = re.sub(r'\b(id="|xlink:href="#|url\(#)', rf"\g<1>f{number}-", text)
    # a larger picture is kept as PNG, if that is smaller
    if len(text) <= 240_000:
        return text.replace("<svg ", f'<svg role="img" aria-label="Figure {number}" ', 1)
    image = BytesIO()
    figure.savefig(image, format="png", dpi=220)
    encoded = base64.b64encode(image.getvalue()).decode()
    if len(encoded) > len(text):
        return text
    width = round(figure.get_size_inches()[0] * 96)
    return f'<img alt="Figure {number}" width="{width}" src="data:image/png;base64,{encoded}">'


def _json(data: dict[str, Any]) -> str:
    """Return JSON that may stand in a script element; long lists are left out, and named."""
    left_out: list[str] = []
    while True:
        payload = {**data, "left_out": left_out} if left_out else data
        text = in_json(payload, default=str)
        lists = {k: len(json.dumps(v, default=str)) for k, v in data.items() if k not in left_out}
        if len(text) <= 300_000 or not lists:
            break
        longest = max(lists, key=lambda name: lists[name])
        left_out.append(longest)
        data = {**data, longest: None}
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
