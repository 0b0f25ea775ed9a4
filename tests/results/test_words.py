"""Users of searches, prompts, tunings and benchmarks read no words of the engine."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from typed import typed

import racer

WORDS = re.compile(r"\b(blocks?|cells?|(?<!racer\.)deciders?)\b", re.IGNORECASE)
ARGUMENTS = {"decider", "block_size"}  # in the settings of a report
DOCS = Path(__file__).parents[2] / "docs"


def noisy(config, item, seed):
    return float((config["x"] + np.random.default_rng([seed, item]).random()) / 2)


def test_what_is_printed_speaks_the_words_of_the_door(tmp_path, capsys):
    linear = pytest.importorskip("sklearn.linear_model")
    from racer.integrations.sklearn import RacingSearchCV

    search = RacingSearchCV(linear.Ridge(), {"alpha": [0.1, 1e6]}, verbose=1, random_state=1)
    rows = np.random.default_rng(1).normal(size=(60, 3))
    space, how = racer.Space({"x": racer.Real(0, 1)}), {"seed": 1, "progress": True}
    pages = [
        search.fit(rows, rows.sum(axis=1)).result_,
        racer.race([{"x": 0}, {"x": 1}], noisy, range(90), decider="mean", budget=180, **how),
        racer.tune(space, noisy, range(9), budget=700, **how),
    ]
    said = []
    for result in pages:
        result.report(tmp_path / "page.html")
        page = re.sub(
            r"(?s)<(script|style).*?</\1>", "", (tmp_path / "page.html").read_text("utf-8")
        )
        said += [str(result), result.details(), re.sub("<[^>]*>", "\n", page)]
    said += map(
        str,
        [
            racer.bench({"a": lambda: sum(range(99)), "b": lambda: 1}, progress=True, rounds=9),
            racer.duel({"a": 1, "b": 2}, lambda a, b: "ba"[a > b], budget=20, seed=1),
            racer.gate(
                {f"q{i}": i % 2 for i in range(40)},
                lambda item: 1.0,
                margin=0.1,
                goal="max",
                seed=1,
            ),
        ],
    )
    said += [*capsys.readouterr(), *(typed(name, "--help").output for name in ("bench", "gate"))]
    lines = [line.strip() for text in said for line in text.splitlines()]
    assert len(lines) > 300
    assert [line for line in lines if WORDS.search(line) and line not in ARGUMENTS] == []


@pytest.mark.parametrize("name", ["sklearn", "prompts_tools", "tutorial_prompts", "gate", "duel"])
def test_pages_speak_the_words_of_the_door(name):
    text = re.sub(
        r"(?s)```.*?```|`[^`\n]*`|\]\([^)]*\)", "", (DOCS / f"{name}.md").read_text("utf-8")
    )
    assert WORDS.findall(text) == []
