"""Pairwise votes: names, a winner or a tie; repeats of an item, and the position of the first."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import check_grad
from typed import typed

import racer
from racer.stats._likelihoods import Likelihood, VoteLikelihood

SKILL = {"bad": -1.0, "mid": 0.0, "good": 1.0}


def votes(n, position=0.0, seed=0, skill=SKILL, ties=0.3):
    """Votes (first, second, winner) by Davidson's model with a bonus for the first."""
    rng, rows = np.random.default_rng(seed), []
    for _ in range(n):
        first, second = rng.permutation([*skill])[:2]
        half = (skill[first] - skill[second] + position) / 2.0
        weights = np.array([np.exp(half), np.exp(-half), ties])
        rows.append((first, second, ("a", "b", "tie")[rng.choice(3, p=weights / weights.sum())]))
    return rows


def arena(rows, names=("model_a", "model_b"), winner=lambda w: w):
    frame = pd.DataFrame(rows, columns=[*names, "winner"])
    return frame.assign(winner=[winner(w) for w in frame["winner"]])


ROWS = votes(150)
MODEL = {"a": "model_a", "b": "model_b", "tie": "tie (bothbad)"}
FORMS = {
    "LMArena": arena(ROWS, winner=MODEL.get).assign(judge="x", turn=1, language="English"),
    "by name": arena([(a, b, {"a": a, "b": b}.get(w, "Tie")) for a, b, w in ROWS]),
    "letters": arena(ROWS, ("system_1", "system_2"), {"a": "A", "b": "[[B]]", "tie": "draw"}.get),
    "Kaggle": pd.DataFrame(
        [
            (i, a, b, "p", *(int(w == x) for x in ("a", "b", "tie")))
            for i, (a, b, w) in enumerate(ROWS)
        ],
        columns=[
            "id",
            "model_a",
            "model_b",
            "prompt",
            *(f"winner_{x}" for x in ("model_a", "model_b", "tie")),
        ],
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["frame", "csv", "jsonl"])
def test_votes_are_compared_whatever_their_form(form, kind, tmp_path):
    frame = FORMS[form]
    if kind == "frame":
        found = racer.compare(frame).to_dict()
    else:
        path = tmp_path / f"votes.{kind}"
        frame.to_csv(path, index=False) if kind == "csv" else frame.to_json(
            path, orient="records", lines=True
        )
        found = json.loads(typed("compare", path, "--json").stdout)
        refused = typed("race", path)
        assert (refused.exit_code, "racer compare votes" in refused.stderr) == (2, True)
    assert found["method"] == "bradley-terry"
    assert [row["algorithm"] for row in found["ranking"]] == ["good", "mid", "bad"]
    assert any("Position is a term" in note for note in found["notes"])
    other = racer.compare(FORMS["LMArena"]).ranking["strength"].tolist()
    assert [row["strength"] for row in found["ranking"]] == pytest.approx(other, abs=0.02)


def test_the_first_place_is_a_term_and_said():
    """Equals, of which one is shown first in nine of ten votes, where the first is preferred."""
    rows = [(*("xy" if i % 10 else "yx"), "a" if i // 10 % 4 else "b") for i in range(400)]
    found = racer.compare(arena(rows))
    assert found.pairs["decision"].tolist() == ["undecided"]
    first = float(re.search(r"shown first wins (0\.\d+)", " ".join(found.notes))[1])
    assert first == pytest.approx(0.75, abs=0.05)
    one = racer.compare(arena([("x", "y", w) for _, _, w in rows]))
    assert one.ranking["algorithm"][0] == "x"
    assert any("in one order" in note for note in one.notes)


def test_position_is_recovered():
    found = racer.compare(arena(votes(1500, position=1.0, seed=3))).details
    low, high = np.quantile(found.position, [0.005, 0.995])
    assert low < 1.0 < high < 1.6
    gap = (
        found.strengths[:, found.names.index("good")] - found.strengths[:, found.names.index("bad")]
    )
    assert np.quantile(gap, 0.005) < 2.0 < np.quantile(gap, 0.995)


def test_votes_of_a_pair_on_an_item_count_as_one():
    """Both orders, as MT-bench asks them, and several judges."""
    once = [(i, "x", "y", "model_1" if i % 3 else "tie") for i in range(30)]
    columns = ["question_id", "model_1", "model_2", "g1_winner"]
    frame = pd.DataFrame(once, columns=columns).assign(g2_winner=lambda f: f["g1_winner"])
    few, many = racer.compare(frame), racer.compare(pd.concat([frame] * 4))
    assert few.ranking["strength"].tolist() == pytest.approx(many.ranking["strength"], abs=1e-6)
    assert any("240 votes on 30 items and pairs" in note for note in many.notes)
    assert few.pairs[["wins", "losses", "ties"]].to_numpy().tolist() == [[20, 0, 10]]
    torn = racer.compare(frame.assign(g2_winner="model_2", g1_winner="model_1"))
    assert torn.n_ties == 30


def test_votes_that_were_not_given_are_left_out_and_others_refused():
    frame = arena(ROWS)
    frame.loc[[3, 7], "winner"] = [None, "error"]
    assert "2 votes without a winner or a tie left out." in racer.compare(frame).notes
    frame.loc[5, "winner"] = "perhaps"
    with pytest.raises(racer.ScoresError, match="holds 'perhaps': give model_a, model_b or tie"):
        racer.compare(frame)
    with pytest.raises(racer.ScoresError, match="never compared with"):
        racer.compare(arena([("x", "y", "a"), ("u", "v", "a")]))


@pytest.mark.parametrize("tied", [0.0, 2.0])
def test_the_likelihood_is_davidsons_and_its_gradient_its_slope(tied):
    counts = np.array([[0, 1, 3, 1, tied], [1, 2, 2, 2, 0.0], [2, 0, 0.5, 1, tied]])
    wins, ties = np.zeros((3, 3)), np.zeros((3, 3))
    for *pair, won, lost, drawn in counts.tolist():
        first, second = map(int, pair)
        wins[first, second], wins[second, first] = won, lost
        ties[first, second] = ties[second, first] = drawn
    plain, own = Likelihood(wins, ties), VoteLikelihood(counts, 3, placed=False)
    points = np.random.default_rng(0).normal(size=(2, 3))
    nu = np.array([[0.5], [2.0]]) if tied else np.zeros((2, 1))
    differences = [one.log_likelihood(points, nu) for one in (plain, own)]
    assert np.diff(differences[0] - differences[1]) == pytest.approx(0.0, abs=1e-12)
    for one, other in zip(plain.slopes(points, nu), own.slopes(points, nu), strict=True):
        assert not tied or one == pytest.approx(other)
    placed = VoteLikelihood(counts, 3, placed=True)

    def parts(x):
        return x[None, :4], np.exp(x[None, 4:]) * bool(tied)

    def slope(x):
        by_beta, by_nu = placed.slopes(*parts(x))
        return np.append(by_beta[0], by_nu * bool(tied))

    start = np.array([0.3, -0.2, 0.5, 0.7, -0.4])
    assert check_grad(lambda x: float(placed.log_likelihood(*parts(x))[0]), slope, start) < 1e-5
