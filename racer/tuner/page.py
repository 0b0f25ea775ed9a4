"""What a page says of a tuning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from racer.racing.page import (
    Told,
    drawing,
    of_best,
    of_eliminations,
    of_failures,
    of_instances,
    of_settings,
    of_survivors,
)
from racer.racing.table import with_success
from racer.report.sections import Section
from racer.tuner.effects import effects
from racer.tuner.pictures import Tuned

if TYPE_CHECKING:
    from racer.report.sections import Piece


class TunedAndTold(Tuned, Told, Protocol):
    """What a page asks of the result of a tuning."""


def of_tuning(result: TunedAndTold, ablation: Section | None = None) -> list[Section]:
    """Return all sections of a tuning."""
    sections = [of_best(result)]
    if len(result.configs) > 1 and len(result.known):
        words = (
            "How far the leader of each race was behind the best in the end, on the blocks that "
            "both have seen, so that races can be compared; grey: all other candidates, where "
            "they entered."
        )
        quality = drawing(result, "quality", words)
        course: list[Piece] = [quality, *result.history, *of_eliminations(result)]
        sections += [Section("The races", tuple(course)), of_survivors(result), _of_space(result)]
        sections += [_of_importance(result), *([ablation] if ablation else [])]
        sections.append(of_instances(result, expected_order(result)))
    return [*sections, of_failures(result), of_settings(result)]


def expected_order(result: Tuned) -> list[int]:
    """Return all candidates, best first by an additive model of blocks and candidates."""
    known = [c for c in range(len(result.configs)) if result.known.of(c)]
    costs = with_success(result.known.all_costs(known))
    if not len(costs):
        return list(range(len(result.configs)))
    first = [known[i] for i in np.argsort(effects(costs).value, kind="stable").tolist()]
    return list(dict.fromkeys([*first, *range(len(result.configs))]))


def _of_space(result: TunedAndTold) -> Section:
    pieces: list[Piece] = [
        drawing(result, "sampling", "What was sampled of each parameter, race by race."),
        drawing(
            result,
            "parallel",
            "The elites in parallel coordinates; grey: other candidates. A line is broken where a "
            "parameter does not exist.",
        ),
    ]
    return Section("What was sampled", tuple(pieces))


def _of_importance(result: TunedAndTold) -> Section:
    found = result.importance
    pieces: list[Piece] = found.said()
    if not found.is_poor:
        words = "Total Sobol index of each parameter, by the surrogate."
        pieces.append(drawing(result, "importance", words))
    return Section("Importance of the parameters", tuple(pieces))
