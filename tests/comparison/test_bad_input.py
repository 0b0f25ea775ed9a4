"""Each hard table with each method: a finite answer, or an error that says what to do."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import racer
from racer.errors import RacerError, ScoresError

compare = partial(racer.compare, goal="min")  # of costs

METHODS = [
    ("bayesian-friedman", {}),
    ("signed-rank", {}),
    ("signed-rank", {"rope": 0.1}),
    ("bradley-terry", {}),
    ("plackett-luce", {}),
    *(
        ("friedman", {"posthoc": posthoc})
        for posthoc in (
            "wilcoxon-holm",
            "nemenyi",
            "conover",
        )
    ),
]
IDS = ["-".join([method, *map(str, more.values())]) for method, more in METHODS]
NAN, INF = np.nan, np.inf
RANDOM = np.random.default_rng(0).normal(size=(8, 2))


def wide(rows, names="ABCD"):
    return pd.DataFrame(rows, columns=list(names)[: np.shape(rows)[1]])


ANSWERED = {
    "constant columns": wide([[1, 2, 3]] * 6),
    "an undefeated algorithm": wide([[-9, x, y] for x, y in RANDOM]),
    "all tied": wide(np.ones((6, 3))),
    "two identical columns": wide([[x, x, y] for x, y in RANDOM]),
    "failures": wide([[1, INF, 3], [INF, INF, 2], [1, 2, 3], [1, 2, INF]]),
    "all failed somewhere": wide([[INF, INF, INF], [1, 2, 3]]),
    "minus infinity": wide([[1, -INF, 3], [-INF, INF, 2], [1, 2, 3]]),
    "a data set without scores": wide([[NAN] * 3, [1, 2, 3], [2, 1, 3]]),
    "gaps": wide([[1, 2, NAN], [1, 2, 3], [1, 3, 2], [NAN, 2, 1]]),
    "the largest and smallest numbers": wide([[1e308, -1e308, 0], [1e-308, 1e308, 5], [1, 2, 3]]),
    "true and false": wide(RANDOM > 0),
    "many algorithms, few data sets": wide(np.random.default_rng(1).normal(size=(3, 7)), "ABCDEFG"),
    "control characters in names": pd.DataFrame(RANDOM, columns=["a\x1b[2J", "b\r\n\u202e"]),
    "markup for names": pd.DataFrame(
        RANDOM, columns=["[bold]a|b_c$\\frac$&%#{}~^\\[/bold]", "<script>*`\n`*"]
    ),
}
DISCONNECTED = wide([[1, 2, NAN, NAN]] * 5 + [[NAN, NAN, 1, 2]] * 5)


def assert_said(comparison, *, drawn=True):
    for frame in (comparison.pairs, comparison.ranking.drop(columns=["mean", "sd"])):
        numbers = (
            frame.drop(columns="effect_size", errors="ignore")
            .select_dtypes("number")
            .to_numpy(dtype=float)
        )
        assert np.isfinite(numbers).all()
    for column in {"probability", "p_value", "in_rope", "lower", "upper"} & {*comparison.pairs}:
        assert comparison.pairs[column].between(0, 1).all()
    decisions = {"better", "equivalent", "undecided", "indeterminate"}
    assert set(comparison.pairs["decision"]) <= decisions
    texts = [str(comparison), comparison.to_markdown(), comparison.to_latex(), comparison.prose()]
    for text in texts:
        assert "nan" not in text.lower().replace("nanc", "")
    assert comparison.prose().isprintable()
    if drawn:
        FigureCanvasAgg(comparison.plot().figure).draw()


def cases():
    """Return each table with each method; signed ranks in turn with and without a rope."""
    for place, name in enumerate(ANSWERED):
        for (method, more), method_id in zip(METHODS, IDS, strict=True):
            if method_id != ("signed-rank-0.1", "signed-rank")[place % 2]:
                yield pytest.param(name, method, more, id=f"{name}-{method_id}")


DRAWN = [
    *("bayesian-friedman", "signed-rank", "signed-rank-0.1", "bradley-terry", "plackett-luce"),
    "friedman-nemenyi",  # each other method is drawn like one of them
]


@pytest.mark.parametrize(("name", "method", "more"), [*cases()])
def test_an_answer(name, method, more):
    own = DRAWN[[*ANSWERED].index(name) % 6]  # one of each table
    every = name in ("failures", "markup for names")
    drawn = IDS[METHODS.index((method, more))] in (DRAWN if every else [own])
    assert_said(compare(ANSWERED[name], method, **more), drawn=drawn)


@pytest.mark.parametrize(("name", "method", "more"), [*cases()][::3])  # others of the next table
def test_an_answer_with_a_control(name, method, more):
    frame = ANSWERED[name]
    if more.get("posthoc") in ("nemenyi", "wilcoxon-shaffer"):
        with pytest.raises(RacerError, match="is for all pairs"):
            compare(frame, method, control=frame.columns[1], **more)
    else:
        found = racer.compare(frame, method, control=frame.columns[1], goal="max", **more)
        assert_said(found, drawn=name in ("failures", "markup for names"))


@pytest.mark.parametrize(("method", "more"), METHODS, ids=IDS)
def test_algorithms_that_never_met_are_refused_with_what_to_do(method, more):
    """What no method can read is refused where scores are read: test_scores.py."""
    with pytest.raises(ScoresError, match=r"use method=|leave them out, or evaluate some"):
        compare(DISCONNECTED, method, **more)


@pytest.mark.parametrize(("method", "more"), METHODS, ids=IDS)
def test_one_data_set(method, more):
    frame = wide([[1, 2, 3]])
    if more.get("posthoc") == "conover":
        with pytest.raises(ScoresError, match="needs two data sets"):
            compare(frame, method, **more)
        return
    comparison = compare(frame, method, **more)
    assert_said(comparison)
    assert "better" not in set(comparison.pairs["decision"])


@pytest.mark.parametrize("method", ["friedman", "bayesian-friedman"])
@pytest.mark.parametrize("k", [2, 3])
def test_two_data_sets_that_agree_prove_nothing(method, k):
    """Even if all are alike, the second has the order of the first once in k! times."""
    comparison = compare(wide([range(k)] * 2), method)
    assert not comparison.omnibus.rejected
    assert comparison.omnibus.probability > 0.16
    assert set(comparison.pairs["decision"]) == {"undecided"}
    at_limit = "2 data sets won would make it 0.750" in " ".join(str(comparison).split())
    assert at_limit == (method == "bayesian-friedman")


def test_no_data_set_that_is_complete():
    frame = wide([[1, 2, NAN], [NAN, 1, 2], [3, NAN, 1]])
    for method in ("friedman", "bayesian-friedman"):
        with pytest.raises(ScoresError, match=r"no data set .* use method='bradley-terry'"):
            compare(frame, method)
    for method in ("signed-rank", "bradley-terry", "plackett-luce", "auto"):
        assert_said(compare(frame, method))


def test_the_largest_gain_is_not_hidden_by_a_name():
    comparison = compare(ANSWERED["markup for names"], "signed-rank")
    assert "[bold]a|b_c" in str(comparison)
    markdown = comparison.to_markdown().splitlines()
    rows = [line for line in markdown if line.startswith("|")]
    assert len({line.replace("\\|", "").count("|") for line in rows[:4]}) == 1
