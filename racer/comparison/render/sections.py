"""The sections that every comparison has: what was compared, the ranking, the pairs, the notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racer.comparison.methods.base import many
from racer.comparison.render import picture, prose
from racer.comparison.render.tables import bullets, escape_markdown, shown
from racer.comparison.section import Section

if TYPE_CHECKING:
    from racer.comparison.data import ComparisonData


def sections(comparison: ComparisonData) -> tuple[Section, ...]:
    """Return the sections of a comparison in their order."""
    return (_compared(comparison), _ranking(comparison), _pairs(comparison), _notes(comparison))


def _compared(comparison: ComparisonData) -> Section:
    said = _facts(comparison)
    return Section(
        terminal=[comparison.title, *said],
        markdown=[
            f"**{escape_markdown(comparison.title)}**",
            escape_markdown(f"{'. '.join(said)}."),
        ],
        prose=[prose.compared(comparison), *prose.all_alike(comparison)],
    )


def _ranking(comparison: ComparisonData) -> Section:
    frame, title = comparison.ranking, f"Ranking by {comparison.order}"
    return Section(
        terminal=[f"\n{title}", frame],
        markdown=[frame],
        latex=[(frame, [f"{title}. {comparison.title}", *_facts(comparison)])],
        prose=[prose.ranked(comparison)],
        pictures=picture.of_ranking(comparison),
    )


def _pairs(comparison: ComparisonData) -> Section:
    frame, better = comparison.pairs, f"better: {comparison.meaning}"
    caption = [f"Pairs of algorithms. {comparison.title}; {better}", *comparison.explained]
    return Section(
        terminal=["Pairs", frame, better],
        markdown=[frame],
        latex=[(frame, caption)],
        prose=[prose.leader(comparison), prose.decided(comparison)],
        pictures=picture.of_pairs(comparison),
    )


def _notes(comparison: ComparisonData) -> Section:
    words = f"Ranking by {comparison.order}; better: {comparison.meaning}."
    return Section(
        terminal=[f"- {note}" for note in comparison.explained],
        markdown=[bullets([words, *comparison.explained])],
        prose=comparison.notes,
    )


def _facts(comparison: ComparisonData) -> list[str]:
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
