"""What came of a comparison: ranking, pairs, what was done, and how to tell others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from racer.comparison.record import Record
from racer.comparison.render.cite import bibtex
from racer.comparison.render.picture import draw
from racer.comparison.render.prose import prose
from racer.comparison.render.tables import cells, escape_markdown, facts, latex, markdown
from racer.comparison.render.terminal import as_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from racer.comparison.render.picture import Kind

__all__ = ["Comparison"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Record):
    """Result of `compare`. ``print(comparison)`` shows all of it.

    Attributes
    ----------
    method : str
        The method's name; `title` is the same in words.
    ranking : DataFrame
        A row per algorithm, the best first; `order` says by what.
    pairs : DataFrame
        A row per pair: better, worse (who leads, not a claim); on how many data sets the first
        wins, loses, ties; what the method says of them, `probability` (posterior, that the first
        is better) or `p_value` (two-sided, adjusted), `in_rope` (posterior probability of
        practical equivalence); and decision.
    omnibus : Omnibus or None
        The test of "all perform alike", where the method has one.
    notes : tuple of str
        Sentences: what was done with gaps, ties and folds.
    reason : str
        Why this method, if it was chosen by ``method="auto"``; otherwise empty.
    meaning : str
        What the decision "better" says. The others: "equivalent", within the rope;
        "undecided"; "indeterminate", a prior of little weight would decide it.
    algorithms, data_sets : tuple of str
        In the order of the scores.
    n_folds, n_missing, n_ties : int
        Folds per score at most; missing scores; comparisons of two algorithms on a data set that
        ended in a tie.
    maximize : bool
    alpha : float
    rope : float or None
        Half-width used; None without.
    control : str or None
    posthoc : str or None
        Of ``method="friedman"``.
    seed : int
    references : tuple of str
        BibTeX keys.
    details : object
        The result of `racer.stats` behind it, where there is one.
    """

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of `pairs`."""
        return self.pairs.copy()

    def to_markdown(self) -> str:
        """Return what was compared, ranking, pairs and notes as Markdown."""
        said = ". ".join(facts(self))
        parts = [f"**{escape_markdown(self.title)}**", escape_markdown(f"{said}.")]
        for frame in (self.ranking, self.pairs):
            head, rows = cells(frame)
            parts.append(markdown(head, [[escape_markdown(text) for text in row] for row in rows]))
        notes = (f"Ranking by {self.order}; better: {self.meaning}.", *self.explained)
        parts.append("\n".join(f"- {escape_markdown(note)}" for note in notes))
        return "\n\n".join(part for part in parts if part)

    def to_latex(self) -> str:
        r"""Return the ranking and the pairs as two tables, for ``\usepackage{booktabs}``."""
        ranked = [f"Ranking by {self.order}. {self.title}", *facts(self)]
        paired = [f"Pairs of algorithms. {self.title}; better: {self.meaning}", *self.explained]
        tables = []
        for frame, said in ((self.ranking, ranked), (self.pairs, paired)):
            caption = " ".join(f"{sentence.rstrip('.')}." for sentence in said)
            head, rows = cells(frame)
            words = {"algorithm", "better", "worse", "decision"}
            align = "".join("l" if name in words else "r" for name in frame)
            tables.append(latex(head, rows, caption=caption, align=align))
        return "\n\n".join(tables)

    def to_dict(self) -> dict[str, Any]:
        """Return all but `details` as what JSON can hold; what is not finite is None."""
        kept = {name: value for name, value in vars(self).items() if name != "details"}
        kept |= {
            "ranking": self.ranking.to_dict("records"),
            "pairs": self.pairs.to_dict("records"),
            "omnibus": None if self.omnibus is None else self.omnibus._asdict(),
        }
        return {name: _plain(value) for name, value in kept.items()}

    def prose(self) -> str:
        """Return a paragraph that a paper could use."""
        return prose(self)

    def cite(self) -> str:
        """Return the BibTeX entries of the methods used."""
        return bibtex(self.references)

    def plot(self, kind: Kind | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the comparison.

        Parameters
        ----------
        kind : {"critical-difference", "pairs", "winning", "posterior"}, optional
            Mean ranks with bars over those not told apart (the Friedman tests); each pair with
            its interval (Bayesian methods; of more than 30 pairs, those with the control or with
            the first); probabilities of winning (Plackett-Luce); the posterior of the one pair
            compared (signed-rank). By default what suits the method.
        ax : matplotlib Axes, optional
            By default on a figure of its own: ``.plot().figure.savefig("picture.png")``.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        SettingError
            A kind that the method has no data for.
        MissingExtraError
            Without matplotlib (``pip install 'racer-tuning[plot]'``).
        """
        return draw(self, kind, ax)

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        return (
            f"Comparison(method={self.method!r}, algorithms={len(self.algorithms)}, "
            f"data_sets={len(self.data_sets)}, "
            f"decided={int((self.pairs['decision'] == 'better').sum())} of {len(self.pairs)} pairs)"
        )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
