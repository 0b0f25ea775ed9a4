"""The result of a comparison: ranking, pairs, notes, and forms for others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args, overload

from racer._checks import choice, is_one_of, no_attribute
from racer._files import as_path, write_texts, written
from racer._numerics import as_json
from racer.comparison.data import KINDS, ComparisonData, Named
from racer.comparison.render.cite import bibtex
from racer.comparison.render.forms import (
    AddedSection,
    as_latex,
    as_markdown,
    as_prose,
    as_text,
    named_section,
    text_pieces,
)
from racer.comparison.render.picture import pictures, posterior_of, together
from racer.errors import SettingError
from racer.render.escape import escape_latex
from racer.render.notebook import as_html
from racer.render.sections import Drawing

if TYPE_CHECKING:
    import pandas as pd
    from _typeshed import StrPath
    from matplotlib.axes import Axes

    from racer.comparison.render.forms import Draw

__all__ = ["Comparison"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ComparisonData):
    """Result of `compare`. ``print(comparison)`` shows all of it.

    Attributes
    ----------
    method : str
        The method's name; `title` is the same in words.
    ranking : DataFrame
        A row per algorithm, the best first; `order` is the criterion. `mean` and `sd` summarise its
        scores over the data sets, sd NaN for one; where scores are missing, `n` is on how many
        data sets it has one.
    pairs : DataFrame
        A row per pair: better, worse (which leads, not a claim); on how many data sets the first
        wins, loses, ties; `effect_size`, the matched-pairs rank-biserial correlation (-1 to 1,
        see `racer.stats.rank_biserial`) on their common data sets, whatever the local rope is;
        the method's columns, `probability` (posterior, that the first is better) or `p_value`
        (two-sided, adjusted), `in_rope` (posterior probability of practical equivalence);
        decision; and `depends_on`, why a probable pair has none: "gate", as "all alike", or
        "both alike" of that pair, is not rejected; "prior", as one of little weight would decide.
    omnibus : OmnibusTest or None
        The test of "all perform alike", where the method has one.
    notes : tuple of str
        Sentences on the treatment of gaps, ties and folds.
    reason : str
        Why this method, if it was chosen by ``method="auto"``; otherwise empty.
    meaning : str
        Meaning of the decision "better". The others: "equivalent", within the rope;
        "undecided"; "indeterminate", a prior of little weight would decide it.
    algorithms, data_sets : tuple of str
        In the order of the scores.
    n_folds, n_missing, n_ties : int
        Folds per score at most; missing scores; comparisons of two algorithms on a data set that
        ended in a tie, by a local rope, too.
    maximize : bool
    direction : str
        Whether larger or smaller scores are better, and, unless the caller told, the source of
        that.
    alpha : float
    rope : float or None
        Half-width used; None without.
    control : str or None
    posthoc : str or None
        Of ``method="friedman"``.
    seed : int
    references : tuple of str
        BibTeX keys.
    scores : DataFrame
        Data sets x algorithms: the compared scores, means (or medians) over the folds.
    details : object
        The result of `racer.stats` behind it, where there is one.
    decisions : {"gated", "published", "strong"}
        How pairs are decided, as given.
    """

    _added: tuple[AddedSection, ...] = ()

    if not TYPE_CHECKING:  # it would allow any name
        __getattr__ = no_attribute

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of `pairs`."""
        return self.pairs.copy()

    def with_section(self, name: Named) -> Comparison:
        """Return this comparison with one more table, in text, Markdown and LaTeX.

        Parameters
        ----------
        name : {"scores", "matrix", "pairs"}
            All scores, the best of each data set in bold, and the mean ranks in the last row; the
            posterior probability that the row is better than the column, or the p-value, for all
            pairs, decided ones in bold; a row for each pair, which up to 15 pairs is there anyway.

        Raises
        ------
        SettingError
            Another name.

        Examples
        --------
        >>> import racer
        >>> comparison = racer.compare([[1, 2], [1, 3], [2, 4]], "friedman", goal="min").with_section("scores")
        >>> str(comparison).splitlines()[-1]
        '- *: the best of its row.'
        """
        choice(name, "name", get_args(Named))
        section = named_section(self, name)
        return self if section is None else replace(self, _added=(*self._added, section))

    def to_markdown(self) -> str:
        """Return subject, ranking, pairs, notes and sections added as Markdown."""
        return as_markdown(self, self._added)

    def to_latex(self) -> str:
        r"""Return ranking, pairs and sections added as tables, for ``\usepackage{booktabs,graphicx}``."""
        return as_latex(self, self._added)

    def to_dict(self) -> dict[str, Any]:
        """Return all but scores, details and added sections, as JSON; None if not finite."""
        left_out = {"scores", "details", "_added"}
        kept = {name: value for name, value in vars(self).items() if name not in left_out}
        kept |= {
            "ranking": self.ranking.to_dict("records"),
            "pairs": self.pairs.to_dict("records"),
            "omnibus": None if self.omnibus is None else self.omnibus._asdict(),
        }
        found: dict[str, Any] = as_json(kept)
        return found

    def prose(self) -> str:
        """Return a paragraph that a paper could use, to stand beside the tables."""
        return as_prose(self)

    def cite(self) -> str:
        """Return the BibTeX entries of the methods used, and of racer."""
        return bibtex((*self.references, "racer"))

    def report(self, path: StrPath) -> None:
        r"""Write the material for a paper into a folder; files of these names are replaced.

        table.tex (``\usepackage{booktabs,graphicx}``, then ``\input{table}``), figure.pdf,
        paragraph.tex, the same as plain text in paragraph.txt, and refs.bib.

        Parameters
        ----------
        path : str or path-like
            The folder, which is made if it is not there.

        Raises
        ------
        MissingExtraError
            Without matplotlib (``pip install 'racer-tuning[plot]'``).
        OSError
            A file cannot be written.
        """
        figure = Drawing(self.plot, "").figure()
        texts = {
            "table.tex": f"% \\usepackage{{booktabs,graphicx}}\n{self.to_latex()}",
            "paragraph.txt": self.prose(),
            "paragraph.tex": escape_latex(self.prose()),
            "refs.bib": self.cite(),
        }
        folder = write_texts(as_path(path, "path", "folder"), texts)
        with written(folder / "figure.pdf") as part:
            figure.savefig(part, metadata={"CreationDate": None})  # the same file again

    @overload
    def plot(
        self,
        kind: str | None = None,
        *,
        pair: tuple[str, str] | None = None,
        ax: Axes | None = None,
    ) -> Axes: ...
    @overload
    def plot(self, kind: list[str] | tuple[str, ...]) -> list[Axes]: ...
    def plot(
        self,
        kind: str | list[str] | tuple[str, ...] | None = None,
        *,
        pair: tuple[str, str] | None = None,
        ax: Axes | None = None,
    ) -> Axes | list[Axes]:
        """Draw the comparison.

        Parameters
        ----------
        kind : {"critical-difference", "pairs", "winning", "posterior", "matrix"}, optional
            Mean ranks with bars over algorithms not separated (the Friedman tests); each pair with
            its interval (Bayesian methods; of more than 30 pairs, only pairs with the control or
            the first); probabilities of winning (Plackett-Luce); the posterior of the one pair
            compared (signed-rank); all pairs as a matrix, of posterior probabilities or p-values. By
            default the picture of the method. A list of kinds: one below the other in one figure.
        pair : pair of str, optional
            With "posterior": any two algorithms, compared by the Bayesian signed-rank test on the
            data sets that have both, for any method; one pair, as if it were the only one.
        ax : matplotlib Axes, optional
            By default on a figure of its own: ``.plot().figure.savefig("picture.png")``.

        Returns
        -------
        matplotlib Axes, or a list of them

        Raises
        ------
        SettingError
            A kind that the method has no data for; an empty list.
        MissingExtraError
            Without matplotlib (``pip install 'racer-tuning[plot]'``).
        """
        if isinstance(kind, list | tuple):
            if not kind or pair is not None or ax is not None:
                raise SettingError(f"kind={kind!r}: give one kind or more, without pair= or ax=")
            return together([self._drawn(one) for one in kind])
        if pair is not None:
            if kind not in {None, "posterior"}:
                raise SettingError(f'pair= is for "posterior", not for kind={kind!r}')
            return posterior_of(self, pair, ax)
        return self._drawn(kind)(ax)

    def _drawn(self, kind: str | None) -> Draw:
        """Return the function that draws a picture, the first if no kind is given."""
        known = pictures(self)
        chosen = next(iter(known)) if kind is None else kind
        if not is_one_of(chosen, [*known]):
            why = "not for this comparison" if is_one_of(chosen, KINDS) else "no such kind"
            raise SettingError(
                f"kind={kind!r}: {why}; method={self.method!r} has {', '.join(known)}"
            )
        return known[chosen]

    def __str__(self) -> str:
        return as_text(text_pieces(self, self._added))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(text_pieces(self, self._added))
