"""Pairwise votes: names, a winner or a tie; repeats of an item, and the position of the first."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from typed import typed

import racer

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
FORMS = {
    "LMArena": arena(ROWS, winner={"a": "model_a", "b": "model_b", "tie": "tie (bothbad)"}.get),
    "by name": arena([(a, b, {"a": a, "b": b}.get(w, "Tie")) for a, b, w in ROWS]),
    "letters": arena(ROWS, ("system_1", "system_2"), {"a": "A", "b": "[[B]]", "tie": "draw"}.get),
}


@pytest.mark.parametrize(("form", "kind"), [*zip(FORMS, ("csv", "jsonl", "csv"), strict=True)])
def test_votes_are_compared_whatever_their_form(form, kind, tmp_path):
    frame, path = FORMS[form].assign(judge="x"), tmp_path / f"votes.{kind}"
    texts = {"csv": frame.to_csv(index=False), "jsonl": frame.to_json(orient="records", lines=True)}
    path.write_text(texts[kind])
    found = json.loads(typed("compare", path, "--json").stdout)
    assert found["method"] == "bradley-terry"
    assert [row["algorithm"] for row in found["ranking"]] == ["good", "mid", "bad"]
    refused = typed("race", path)
    assert (refused.exit_code, "racer compare votes" in refused.stderr) == (2, True)


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


def test_position_and_strengths_are_recovered():
    found = racer.compare(arena(votes(900, position=1.0, seed=3))).details
    assert np.quantile(found.position, [0.005, 0.995]) == pytest.approx([1.0, 1.0], abs=0.6)
    gap = np.diff(found.strengths[:, [*map(found.names.index, ("bad", "good"))]])
    for draws, true in ((found.position, 1.0), (gap, 2.0)):
        low, high = np.quantile(draws, [0.005, 0.995])
        assert low < true < high
    with pytest.raises(racer.ScoresError, match="position of votes"):
        found.waic()


def test_votes_of_a_pair_on_an_item_count_as_one():
    """Both orders, as MT-bench asks them, and several judges."""
    once = [(i, "x", "y", "model_1" if i % 3 else "tie") for i in range(30)]
    columns = ["question_id", "model_1", "model_2", "g1_winner"]
    frame = pd.DataFrame(once, columns=columns).assign(g2_winner=lambda f: f["g1_winner"])
    few, many = racer.compare(frame), racer.compare(pd.concat([frame] * 4))
    assert few.ranking["strength"].tolist() == pytest.approx(many.ranking["strength"], abs=1e-6)
    assert any("240 votes on 30 items and pairs;" in note for note in many.notes)
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
