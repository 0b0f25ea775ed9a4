"""The papers behind the methods: in prose, and as BibTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from racer.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Iterable


class Reference(NamedTuple):
    """A publication: how prose calls it, its kind, and its BibTeX fields."""

    called: str
    kind: str
    fields: dict[str, str]


def _article(called: str, **fields: str) -> Reference:
    return Reference(called, "article", fields)


def _paper(called: str, **fields: str) -> Reference:
    return Reference(called, "inproceedings", fields)


_IDSIA = "Benavoli, Alessio and Mangili, Francesca and Corani, Giorgio and Zaffalon, Marco"

EFFECT_SIZE = "kerby2014"
REFERENCES = {
    "benavoli2014": _paper(
        "Benavoli et al., 2014",
        author=f"{_IDSIA} and Ruggeri, Fabrizio",
        title="A {Bayesian} {Wilcoxon} signed-rank test based on the {Dirichlet} process",
        booktitle="Proceedings of the 31st International Conference on Machine Learning",
        year="2014",
    ),
    "benavoli2015": _paper(
        "Benavoli et al., 2015",
        author="Benavoli, Alessio and Corani, Giorgio and Mangili, Francesca and Zaffalon, Marco",
        title="A {Bayesian} nonparametric procedure for comparing algorithms",
        booktitle="Proceedings of the 32nd International Conference on Machine Learning",
        year="2015",
    ),
    "benavoli2017": _article(
        "Benavoli et al., 2017",
        author="Benavoli, Alessio and Corani, Giorgio and Dem{\\v{s}}ar, Janez and Zaffalon, Marco",
        title=(
            "Time for a change: a tutorial for comparing multiple classifiers through {Bayesian} "
            "analysis"
        ),
        journal="Journal of Machine Learning Research",
        volume="18",
        number="77",
        pages="1--36",
        year="2017",
    ),
    "bradley1952": _article(
        "Bradley and Terry, 1952",
        author="Bradley, Ralph Allan and Terry, Milton E.",
        title=(
            "Rank analysis of incomplete block designs: {I}. {The} method of paired comparisons"
        ),
        journal="Biometrika",
        volume="39",
        number="3/4",
        pages="324--345",
        year="1952",
    ),
    "calvo2019": _paper(
        "Calvo et al., 2019",
        author=(
            "Calvo, Borja and Shir, Ofer M. and Ceberio, Josu and Doerr, Carola and Wang, Hao and "
            'B{\\"a}ck, Thomas and Lozano, Jose A.'
        ),
        title="{Bayesian} performance analysis for black-box optimization benchmarking",
        booktitle=("Proceedings of the Genetic and Evolutionary Computation Conference Companion"),
        pages="1789--1797",
        year="2019",
        doi="10.1145/3319619.3326888",
    ),
    "conover1999": Reference(
        "Conover, 1999",
        "book",
        {
            "author": "Conover, W. J.",
            "title": "Practical Nonparametric Statistics",
            "edition": "3rd",
            "publisher": "Wiley",
            "year": "1999",
        },
    ),
    "demsar2006": _article(
        "Demšar, 2006",
        author="Dem{\\v{s}}ar, Janez",
        title="Statistical comparisons of classifiers over multiple data sets",
        journal="Journal of Machine Learning Research",
        volume="7",
        pages="1--30",
        year="2006",
    ),
    "efron1977": _article(
        "Efron, 1977",
        author="Efron, Bradley",
        title="The efficiency of {Cox}'s likelihood function for censored data",
        journal="Journal of the American Statistical Association",
        volume="72",
        number="359",
        pages="557--565",
        year="1977",
    ),
    "friedman1937": _article(
        "Friedman, 1937",
        author="Friedman, Milton",
        title=(
            "The use of ranks to avoid the assumption of normality implicit in the analysis of "
            "variance"
        ),
        journal="Journal of the American Statistical Association",
        volume="32",
        number="200",
        pages="675--701",
        year="1937",
    ),
    "hochberg1988": _article(
        "Hochberg, 1988",
        author="Hochberg, Yosef",
        title="A sharper {Bonferroni} procedure for multiple tests of significance",
        journal="Biometrika",
        volume="75",
        number="4",
        pages="800--802",
        year="1988",
    ),
    "holm1979": _article(
        "Holm, 1979",
        author="Holm, Sture",
        title="A simple sequentially rejective multiple test procedure",
        journal="Scandinavian Journal of Statistics",
        volume="6",
        number="2",
        pages="65--70",
        year="1979",
    ),
    "iman1980": _article(
        "Iman and Davenport, 1980",
        author="Iman, Ronald L. and Davenport, James M.",
        title="Approximations of the critical region of the {Friedman} statistic",
        journal="Communications in Statistics -- Theory and Methods",
        volume="9",
        number="6",
        pages="571--595",
        year="1980",
    ),
    "kerby2014": _article(
        "Kerby, 2014",
        author="Kerby, Dave S.",
        title="The simple difference formula: an approach to teaching nonparametric correlation",
        journal="Comprehensive Psychology",
        volume="3",
        year="2014",
    ),
    "luce1959": Reference(
        "Luce, 1959",
        "book",
        {
            "author": "Luce, R. Duncan",
            "title": "Individual Choice Behavior: A Theoretical Analysis",
            "publisher": "Wiley",
            "year": "1959",
        },
    ),
    "nemenyi1963": Reference(
        "Nemenyi, 1963",
        "phdthesis",
        {
            "author": "Nemenyi, Peter Bjorn",
            "title": "Distribution-free Multiple Comparisons",
            "school": "Princeton University",
            "year": "1963",
        },
    ),
    "plackett1975": _article(
        "Plackett, 1975",
        author="Plackett, R. L.",
        title="The analysis of permutations",
        journal="Journal of the Royal Statistical Society: Series C (Applied Statistics)",
        volume="24",
        number="2",
        pages="193--202",
        year="1975",
    ),
    "shaffer1986": _article(
        "Shaffer, 1986",
        author="Shaffer, Juliet Popper",
        title="Modified sequentially rejective multiple test procedures",
        journal="Journal of the American Statistical Association",
        volume="81",
        number="395",
        pages="826--831",
        year="1986",
    ),
    "wainer2023": _article(
        "Wainer, 2023",
        author="Wainer, Jacques",
        title=(
            "A {Bayesian} {Bradley-Terry} model to compare multiple {ML} algorithms on multiple "
            "data sets"
        ),
        journal="Journal of Machine Learning Research",
        volume="24",
        year="2023",
    ),
    "wilcoxon1945": _article(
        "Wilcoxon, 1945",
        author="Wilcoxon, Frank",
        title="Individual comparisons by ranking methods",
        journal="Biometrics Bulletin",
        volume="1",
        number="6",
        pages="80--83",
        year="1945",
    ),
}


def _known(keys: Iterable[str]) -> list[str]:
    keys = list(keys)
    for key in keys:
        if key not in REFERENCES:
            raise SettingError(f"no reference {key!r}: choose from {', '.join(REFERENCES)}")
    return keys


def bibtex(keys: Iterable[str]) -> str:
    """Return the BibTeX entries of some references."""
    entries = []
    for key in _known(keys):
        reference = REFERENCES[key]
        fields = "\n".join(f"  {name} = {{{text}}}," for name, text in reference.fields.items())
        entries.append(f"@{reference.kind}{{{key},\n{fields}\n}}")
    return "\n\n".join(entries)


def in_prose(keys: Iterable[str]) -> str:
    """Return references as they stand in parentheses."""
    return "; ".join(REFERENCES[key].called for key in _known(keys))
