"""Tables of pairwise votes: two names, and a winner or a tie."""

from __future__ import annotations

import re
import reprlib

import pandas as pd

from racer.comparison.columns import ALGORITHM, DATA_SET, called
from racer.direction import LARGER_IS_BETTER
from racer.errors import ScoresError

VOTES, LEFT_OUT = "votes", "left_out"  # in `attrs` of a table made of votes
_PAIR = re.compile(rf"({'|'.join((*ALGORITHM, 'player', 'candidate'))})[ _.-]?[a1]", re.IGNORECASE)
_WINNER = ("winner", "vote", "preference", "choice")
_BOTH_ORDERS = ["g1_winner", "g2_winner"]  # of MT-bench
_TIE = re.compile(r"(tie|draw|both|neither|equal)", re.IGNORECASE)
_NONE = re.compile(r"(error|none|nan|-1)?$", re.IGNORECASE)  # a vote that was not given


def of_votes(frame: pd.DataFrame) -> pd.DataFrame:
    """Return votes as a table of points, a row for each item and pair; any other table as it is.

    The points of a pair on an item are means over its votes: repeats, judges, and both orders.
    `attrs` has the votes themselves: first, second, points of the first, weight.
    """
    pair = next(([n, _next(n)] for n in map(str, frame) if _PAIR.fullmatch(n)), [])
    winners = _BOTH_ORDERS if {*_BOTH_ORDERS} <= {*frame} else called(frame, _WINNER)[:1]
    if not winners or not pair or pair[1] not in frame:
        return frame
    items = called(frame, DATA_SET)[:1]
    texts = ([*map(str, frame[name])] for name in (*pair, *winners, *items))
    groups: dict[tuple[str, ...], list[tuple[str, str, float]]] = {}
    for place, (one, other, *said) in enumerate(zip(*texts, strict=True)):
        item = said.pop() if items else str(place)
        orders = (one, other), (other, one)
        for winner, text, names in zip(winners, said, orders, strict=False):
            points = _points(text.strip(), pair, orders[0], winner)
            if points is not None:
                game = (*names, points if names == orders[0] else 1.0 - points)
                groups.setdefault((item, *sorted(names)), []).append(game)
    votes = [(*game, 1.0 / len(group)) for group in groups.values() for game in group]
    if not votes:
        raise ScoresError(f"no vote in column {winners[0]!r} is for {pair[0]}, {pair[1]} or a tie")
    rows: dict[str, dict[str, float]] = {}
    for (item, one, other), group in groups.items():
        mean = sum(p if first == one else 1.0 - p for first, _, p in group) / len(group)
        rows[f"{item}: {one}, {other}"] = {one: mean, other: 1.0 - mean}
    table = pd.DataFrame.from_dict(rows, orient="index").reset_index(names="vote")
    left_out = len(frame) * len(winners) - len(votes)
    table.attrs = {LARGER_IS_BETTER: True, VOTES: votes, LEFT_OUT: left_out}
    return table


def _next(name: str) -> str:
    """Return the name of the second of two columns: model_b after model_a, model_2 after model_1."""
    return name[:-1] + chr(ord(name[-1]) + 1)


def _points(said: str, pair: list[str], names: tuple[str, ...], winner: str) -> float | None:
    """Return the points of the first name by the winner, as it is said; None if no vote was given."""
    for points, column, name, short in zip((1.0, 0.0), pair, names, ("a1", "b2"), strict=True):
        if said == name or said.lower() in {column.lower(), *short, f"[[{short[0]}]]"}:
            return points
    if not _TIE.match(said) and not _NONE.match(said):
        raise ScoresError(
            f"column {winner!r} holds {reprlib.repr(said)}: give {pair[0]}, {pair[1]} or tie; leave it "
            "empty where there was no vote"
        )
    return 0.5 if _TIE.match(said) else None
