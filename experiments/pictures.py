"""Pictures of the documentation: written for light and dark pages, compared, and made small."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["GREY", "looks_alike", "save", "shrink", "words"]

GREY = "#768390"  # can be read on white and on black


def save(figure: Any, path: Path) -> None:
    """Write a picture as SVG, transparent, whose text and lines can be read on white and black."""
    import matplotlib as mpl  # noqa: PLC0415  (an extra)

    for artist in figure.findobj(lambda artist: not _is_in_cell(artist)):
        for what in ("color", "edgecolor", "facecolor", "markeredgecolor", "markerfacecolor"):
            get, change = getattr(artist, f"get_{what}", None), getattr(artist, f"set_{what}", None)
            if get is not None and change is not None and (grey := _grey_for(get())):
                change(grey)
    for legend in figure.findobj(mpl.legend.Legend):
        legend.set_frame_on(False)
    with mpl.rc_context({"svg.hashsalt": "racer", "svg.fonttype": "none"}):
        figure.savefig(path, transparent=True, dpi=150, metadata={"Date": None})


def _is_in_cell(artist: Any) -> bool:
    """Return True for text on a coloured cell, whose colour fits that."""
    from matplotlib.text import Annotation, Text  # noqa: PLC0415

    is_text = isinstance(artist, Text) and not isinstance(artist, Annotation)
    ax = getattr(artist, "axes", None)
    return is_text and ax is not None and artist in ax.texts and bool(ax.images)


def _grey_for(colour: Any) -> Any:
    """Return what takes the place of black, and of light grey; None for other colours."""
    from matplotlib.colors import to_rgba, to_rgba_array  # noqa: PLC0415

    try:
        found = to_rgba_array(colour)
    except (TypeError, ValueError):
        return None
    if len(found) != 1 or not found[0, 3] or np.ptp(found[0, :3]) > _HUE:
        return None
    if found[0, 0] < _DARK:
        return GREY
    return to_rgba(GREY, _FAINT) if _LIGHT < found[0, 0] < 1.0 else None


_HUE, _DARK, _LIGHT, _FAINT = 0.05, 0.2, 0.72, 0.35


_NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
_IMAGE = re.compile(r"data:image/png;base64,[\w+/=\s]+")
_NAME = re.compile(r"(?<=[\"#])[a-z][0-9a-f]{10}(?=[\")])")  # a hash of a shape's last digits
_NEAR = 2.0  # units of 1/72 inch that arithmetic of another processor may move something by


def looks_alike(one: str, other: str) -> bool:
    """Return True if two SVGs differ by nothing that can be seen; images within are not compared."""
    texts = [_numbered(_IMAGE.sub("", text)) for text in (one, other)]
    numbers = [[float(number) for number in _NUMBER.findall(text)] for text in texts]
    return words(one) == words(other) and all(
        a == b or abs(a - b) <= _NEAR for a, b in zip(*numbers, strict=True)
    )


def words(text: str) -> str:
    """Return an SVG or a page without its images, and with # for each number."""
    return _NUMBER.sub("#", _numbered(_IMAGE.sub("", text)))


def _numbered(text: str) -> str:
    """Return an SVG with the shapes named by their order, further apart than `_NEAR`."""
    order: dict[str, int] = {}
    return _NAME.sub(lambda found: f"{10 * order.setdefault(found[0], len(order))}", text)


def shrink(path: Path, notes: Mapping[str, str] | None = None) -> None:
    """Rewrite a PNG with a palette of 256 colours: a quarter of the bytes, and looks the same.

    Files of other formats stay as they are. `notes` are written into the file.
    """
    if path.suffix != ".png":
        return
    from PIL import Image  # noqa: PLC0415  (comes with matplotlib, an extra)
    from PIL.PngImagePlugin import PngInfo  # noqa: PLC0415

    within = PngInfo()
    for name, text in (notes or {}).items():
        within.add_text(name, text)
    with Image.open(path) as picture:
        coloured = picture.convert("RGB")
    drawn = coloured.quantize(256, kmeans=2, dither=Image.Dither.NONE)
    drawn.save(path, optimize=True, pnginfo=within)
