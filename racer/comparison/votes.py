"""Tables of pairwise votes: two names, and a winner or a tie."""

from __future__ import annotations

import re
import reprlib
from typing import TYPE_CHECKING, Any

from racer.comparison.columns import ALGORITHM, DATA_SET, called
from racer.direction import LARGER_IS_BETTER
from racer.errors import ScoresError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

VOTES, LEFT_OUT = "votes", "left_out"  # in `attrs` of a table made of votes
_WINNER = ("winner", "vote", "preference", "choice")
_TIE = re.compile(r"(tie|draw|both|neither|equal)", re.IGNORECASE)
_NONE = re.compile(r"(error|none|nan|-1)?$", re.IGNORECASE)  # a vote that was not given


def of_votes(frame: pd.DataFrame) -> pd.DataFrame:
    """Return votes as a table of points, a row for each item and pair; any other table as it is.

    The points of a pair on an item are means over its votes: repeats, judges, and both orders.
    `attrs` has the votes themselves: first, second, points of the first, weight.
    """
    pair = _pair_in(frame)
    winners = [] if pair is None else _winners(frame, pair)
    if pair is None or not winners:
        return frame
    items = (called(frame, DATA_SET) or [""])[:1]
    games: dict[tuple[str, ...], list[tuple[str, str, float]]] = {}
    left_out = 0
    for place, row in enumerate(frame.to_dict("records")):
        one, other = (str(row[name]) for name in pair)
        item = str(row[items[0]]) if items[0] else str(place)
        for second, points in enumerate(_points(row, pair, winners)):
            if points is None:
                left_out += 1
                continue
            game = (other, one, 1.0 - points) if second else (one, other, points)
            games.setdefault((item, *sorted((one, other))), []).append(game)
    if not games:
        raise ScoresError(
            f"no vote in column {winners[0]!r} is for one of {pair[0]!r}, {pair[1]!r}"
        )
    table = _table(games)
    votes = [(*game, 1.0 / len(group)) for group in games.values() for game in group]
    table.attrs = {LARGER_IS_BETTER: True, VOTES: votes, LEFT_OUT: left_out}
    return table


def _table(games: dict[tuple[str, ...], list[tuple[str, str, float]]]) -> pd.DataFrame:
    """Return the mean points of both names of each pair on each item."""
    import pandas as pd  # noqa: PLC0415

    rows: dict[str, dict[str, float]] = {}
    for (item, one, other), group in games.items():
        mean = sum(points if first == one else 1.0 - points for first, _, points in group)
        mean /= len(group)
        rows[f"{item}: {one}, {other}"] = {one: mean, other: 1.0 - mean}
    return pd.DataFrame.from_dict(rows, orient="index").reset_index(names="vote")


def _pair_in(frame: pd.DataFrame) -> tuple[str, str] | None:
    """Return the columns of both names, such as model_a and model_b."""
    known = {str(name).lower(): str(name) for name in frame.columns}
    for first, name in known.items():
        match = re.fullmatch(r"(.+?)([ _.-]?)([a1])", first)
        second = match and f"{match[1]}{match[2]}{chr(ord(match[3]) + 1)}"
        if match and second in known and match[1] in {*ALGORITHM, "player", "candidate"}:
            return name, known[second]
    return None


def _winners(frame: pd.DataFrame, pair: tuple[str, str]) -> list[str]:
    """Return the columns that name the winner: one; of both orders; or 0 and 1 for each outcome."""
    names = [str(name) for name in frame.columns]
    orders = sorted(name for name in names if name in {"g1_winner", "g2_winner"})
    each = [f"winner_{name}" for name in (*pair, "tie") if f"winner_{name}" in names]
    return orders or (each if len(each) > 1 else []) or called(frame, _WINNER)[:1]


def _points(
    row: dict[Any, Any], pair: tuple[str, str], winners: list[str]
) -> Iterator[float | None]:
    """Yield the points of the first name in each vote of a row, by order; None if it was not given."""
    if winners[0] == f"winner_{pair[0]}":
        yield next((p for p, n in zip((1.0, 0.0, 0.5), winners, strict=False) if row[n] == 1), None)
        return
    for winner in winners:
        said = str(row[winner]).strip()
        for points, name, short in ((1.0, pair[0], "a1"), (0.0, pair[1], "b2")):
            if said.lower() in {name.lower(), *short, f"[[{short[0]}]]"} or said == str(row[name]):
                yield points
                break
        else:
            if not _TIE.match(said) and not _NONE.match(said):
                raise ScoresError(
                    f"column {winner!r} holds {reprlib.repr(said)}: give {pair[0]}, {pair[1]} or tie; leave it "
                    "empty where there was no vote"
                )
            yield 0.5 if _TIE.match(said) else None
