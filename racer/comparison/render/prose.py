"""A comparison in sentences that a paper could use."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from racer._checks import counted
from racer.comparison.render.cite import EFFECT_SIZE, in_prose
from racer.comparison.render.tables import DECIMALS, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from racer.comparison.data import ComparisonData, OmnibusTest


def compared(comparison: ComparisonData) -> str:
    """Return the sentence on subject and method."""
    folds = f", {comparison.n_folds} folds each," if comparison.n_folds > 1 else ""
    control = f" with {comparison.control}" if comparison.control else ""
    others = len(comparison.algorithms) - bool(comparison.control)
    better = "Larger" if comparison.maximize else "Smaller"
    methods = [key for key in comparison.references if key != EFFECT_SIZE]
    return (
        f"{counted(others, 'algorithm')} {'was' if others == 1 else 'were'} compared{control} on "
        f"{comparison.basis}{folds} by the "
        f"{comparison.title} ({in_prose(methods)}). {better} scores are better."
    )


def all_alike(comparison: ComparisonData) -> list[str]:
    """Return whether "all perform alike" was rejected, where that was tested."""
    omnibus = comparison.omnibus
    if omnibus is None:
        return []
    word = "was" if omnibus.rejected else "was not"
    found = f"{omnibus.test}: {omnibus.found}, {tail(omnibus)}"
    level = f"at level {comparison.alpha:g}"
    return [f"The hypothesis that all perform alike {word} rejected {level} ({found})."]


def tail(omnibus: OmnibusTest) -> str:
    """Return the p-value, or the posterior probability of the tail, with its name."""
    measure = "posterior tail probability" if omnibus.test == "Bayesian Friedman" else "p"
    return f"{measure} {_related(shown(omnibus.probability, 'p_value'))}"


def _related(figure: str) -> str:
    """Return a figure with its relation: "= 0.02", "< 0.001"."""
    return f"< {figure[1:]}" if figure.startswith("<") else f"= {figure}"


def ranked(comparison: ComparisonData) -> str:
    """Return the order of the algorithms."""
    names = comparison.ranking["algorithm"].tolist()
    return f"By {comparison.order}, the order is {', '.join(names)}."


def leader(comparison: ComparisonData) -> str:
    """Return how the control, or the algorithm that ranks first, compares with the others."""
    name = comparison.control or comparison.ranking["algorithm"].iloc[0]
    column = "p_value" if "p_value" in comparison.pairs else "probability"
    decimals = comparison.pairs.attrs.get(DECIMALS, {}).get(column, 3)
    is_open = comparison.omnibus is not None and comparison.omnibus.rejected
    groups: dict[str, list[str]] = {}
    for row in comparison.pairs.to_dict("records"):
        if name not in (row["better"], row["worse"]):
            continue
        other = row["worse"] if row["better"] == name else row["better"]
        kind = row["decision"]
        if kind == "better" and row["worse"] == name:
            kind = "worse"
        figure = shown(row["in_rope" if kind == "equivalent" else column], column, decimals)
        if column == "p_value":
            figure = f"p {_related(figure)}"
        open_to = kind in ("undecided", "indeterminate") and column == "probability"
        leads = f" for {row['better']}" if open_to else ""
        if row["depends_on"] == "gate":
            leads += f', but "{"both" if is_open else "all"} alike" is not rejected'
        effect = row["effect_size"] * (1 if row["better"] == name else -1)
        size = "" if math.isnan(effect) else f", r = {effect:.2f}"
        groups.setdefault(kind, []).append(f"{other} ({figure}{leads}{size})")
    measure = "adjusted p-values" if column == "p_value" else "posterior probabilities"
    said = [
        f"{words} {_enumerated(groups[kind])}"
        for kind, words in (
            ("better", f"{name} is better than"),
            ("worse", f"{name} is worse than"),
            ("equivalent", f"{name} is practically equivalent to"),
            ("undecided", f"it is undecided between {name} and"),
            ("indeterminate", f"it depends on the prior between {name} and"),
        )
        if kind in groups
    ]
    text = "; ".join(said)
    return (
        f"{text[0].upper() if text.startswith('it ') else text[0]}{text[1:]} ({measure}; r is the "
        f"effect size of {name}, a matched-pairs rank-biserial correlation, "
        f"{in_prose([EFFECT_SIZE])})."
    )


def meaning(comparison: ComparisonData) -> str:
    """Return the meaning of "better", and of "equivalent" if a pair is."""
    rope = ""
    if comparison.rope is None or not (comparison.pairs["decision"] == "equivalent").any():
        pass
    elif comparison.decisions == "strong":
        rope = f", and equivalent a posterior mean below {0.5 + comparison.rope:g}"
    else:
        above = "of at least" if comparison.decisions == "published" else "above"
        rope = (
            f", and equivalent a posterior probability {above} {1.0 - comparison.alpha:g} of lying "
            f"within the region of practical equivalence (half-width {comparison.rope:g})"
        )
    return f"Better means {comparison.meaning}{rope}."


def computed(comparison: ComparisonData) -> str:
    """Return how to get the same again."""
    from importlib.metadata import version  # noqa: PLC0415

    return f"Computed with racer {version('racer-tuning')}, seed {comparison.seed}."


def _enumerated(words: Sequence[str]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    return " and ".join([*([", ".join(words[:-1])] if words[:-1] else []), *words[-1:]])
