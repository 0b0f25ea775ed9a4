"""Which way is up: what the caller says, the format, or the name of the metric; else a question."""

import itertools
import json
from pathlib import Path
from string import Template

import numpy as np
import pandas as pd
import pytest
from typed import typed

import racer
from racer.direction import LARGER_IS_BETTER, Direction, larger_is_better

DATA = Path(__file__).parent / "data"
NAMES = [
    line.partition(": ")[::2]
    for line in (DATA / "metric_names.txt").read_text("utf-8").splitlines()
]
SAID = {"up": True, "down": False, "ask": None}
GOOD = {"good": [5.0, 6.0, 7.0, 5.5, 6.5, 8.0], "bad": [1.0, 2.0, 1.5, 2.5, 1.0, 2.0]}


@pytest.mark.parametrize(("said", "names"), NAMES)
def test_what_the_name_of_a_metric_says(said, names):
    found = {name: larger_is_better(name) for name in names.split(" | ")}
    assert found == dict.fromkeys(found, SAID[said])


@pytest.mark.parametrize("name", ["focal loss", "TimeGPT", "accuracy", "error", "rank SVM"])
def test_names_of_algorithms_say_nothing(name):
    table = pd.DataFrame(GOOD).add_prefix(f"{name} of ")
    with pytest.raises(racer.ScoresError, match="are larger scores better"):
        racer.compare(table)


# Files as public tools write them, of candidates bad < mid < good: name, header, row ($u: larger is
# better, $d: smaller, of candidate $w on item $i), what the answer or the question says, and what
# follows: up and down are decided, options answer the question, advice is followed by ADVICE
LINES = (DATA / "public_tables.txt").read_text("utf-8").splitlines()
TABLES = {name: parts for name, *parts in (line.split(" | ") for line in LINES)}
# What messages advise where no option does it
ADVICE = {
    "HELM": lambda f: f.set_index("Model")[["NarrativeQA - F1", "MMLU - EM"]].T,
    "MTEB": lambda f: f.set_index("Model")[["Banking77", "STS12"]].T,
    "W&B, extremes": lambda f: f.drop(columns="bad - loss__MIN"),
    "Mittelmann": lambda f: f.assign(bad=np.inf),
    "ASlib, failures": lambda f: f.assign(
        runtime=f["runtime"].where(f["runstatus"] == "ok", np.inf)
    ),
    "hyperfine": lambda f: pd.DataFrame(
        [(i, w, value(w, i, "d")) for i in range(9) for w in f["command"]],
        columns=["instance", "algorithm", "score"],
    ),
}


def value(who, i, kind="u"):
    """A score of candidate bad, mid or good on item i."""
    skill = ("bad", "mid", "good").index(who)
    if kind == "p" and (i + 3 * skill) % 5 == 0:
        return 5000.0
    up = 0.5 + 0.1 * skill + 0.005 * ((7 * i + 3 * skill) % 11)
    return round(up if kind == "u" else 1.25 - up, 4)


def public(name):
    """The text of a file of TABLES."""
    header, row, *_ = TABLES[name]
    lines = []
    for i, (n, who) in itertools.product(range(10), enumerate(("bad", "good", "mid"))):
        own = {kind: value(who, i, kind) for kind in "ud"}
        own |= {f"{w}_{k}": value(w, i, k) for w in ("bad", "good") for k in "udp"}
        own |= {"status": "crash" if who == "bad" else "ok", "m": ("rmse", "auc")[i % 2]}
        lines.append(Template(row).substitute(own, i=i, w=who, s=70 + n, n=3 * i + n))
    rows = [*dict.fromkeys(lines)] if "$i" in row else [*dict.fromkeys(lines[:3])]
    return "\n".join([*filter(None, [header]), *rows]) + "\n"


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("command", ["compare", "race"])
@pytest.mark.filterwarnings("ignore:.*names the data sets:racer.RacerWarning")
def test_public_files_are_ranked_the_right_way_up_or_asked_about(name, command, tmp_path):
    *_, words, remedy = TABLES[name]
    path = tmp_path / (name if "." in name else "scores.csv")
    path.write_text(public(name), encoding="utf-8")
    done, decided = typed(command, path, "--json"), remedy in {"up", "down"}
    if not decided:
        assert done.exit_code == 2, done.output
        said = " ".join(done.stderr.split())
        assert all(part in said for part in words.split(" .. ")), said
        if remedy in {"-", "advice"}:
            return
        done = typed(command, path, *remedy.split(), "--json", exits=0)
    found = json.loads(done.stdout)
    assert "good" in (found["best"] if command == "race" else found["ranking"][0]["algorithm"])
    if decided and command == "compare":
        assert words in found["direction"]
        assert racer.compare(racer.read_scores(path)).maximize == (remedy == "up")


@pytest.mark.parametrize("name", ADVICE)
@pytest.mark.parametrize("kind", ["csv", "json"])
def test_advice_that_is_no_option_leads_to_the_right_result(name, kind, tmp_path):
    path = tmp_path / f"scores.{kind}"
    path.write_text(public(name), encoding="utf-8")
    frame, larger = ADVICE[name](pd.read_csv(path)), name in {"HELM", "MTEB"}
    assert "good" in racer.compare(frame, goal="max" if larger else "min").ranking["algorithm"][0]
    frame = frame.reset_index(names="task") if larger else frame
    records = json.dumps(frame.to_dict("records"))  # inf as Python writes it
    path.write_text(frame.to_csv(index=False) if kind == "csv" else records, encoding="utf-8")
    done = typed("compare", path, "--maximize" if larger else "--minimize", "--json")
    assert done.exit_code == 0, done.output
    assert "good" in json.loads(done.stdout)["ranking"][0]["algorithm"]


RNG = np.random.default_rng(0)
TIMES = RNG.uniform(1.0, 9.0, (12, 3))
GRADES = RNG.integers(0, 3, (12, 3)) / 10.0


@pytest.mark.parametrize(
    ("values", "failed", "said"),
    [
        (TIMES, np.inf, False),
        (TIMES, 50.0, False),  # PAR10
        (TIMES, 12.0, None),  # as accuracies of which some are 1 have it
        (GRADES, 1.0, None),
        (-TIMES, -np.inf, True),
        (TIMES, 0.0, None),
        (TIMES - 20.0, 500.0, None),
    ],
)
def test_failures_say_it(values, failed, said):
    values = values.copy()
    values[[0, 1, 2, 3], [0, 1, 1, 2]] = failed
    table = pd.DataFrame(values, columns=list("abc"))
    if said is None:
        with pytest.raises(racer.ScoresError, match="are larger scores better"):
            racer.compare(table)
    else:
        words = racer.compare(table).direction
        assert words == f"{'larger' if said else 'smaller'} is better, assumed of the failures"


def test_what_is_said_always_holds():
    table = pd.DataFrame(GOOD).add_suffix(" accuracy")
    for maximize in (True, False):
        found = racer.compare(table, goal="max" if maximize else "min")
        assert ("good" in found.ranking["algorithm"][0]) == maximize
        opposite = racer.compare(-table, goal="max" if not maximize else "min")
        assert opposite.pairs.equals(found.pairs)
    assert Direction.of("accuracy", True).words == "larger is better"
    words = "smaller is better, as given, although 'accuracy' says otherwise"
    assert Direction.of("accuracy", False).words == words


def test_the_format_decides_before_the_names():
    table = pd.DataFrame(GOOD)
    table.attrs[LARGER_IS_BETTER] = True
    assert racer.compare(table).direction == "larger is better, as the file says"
    assert Direction.of("latency", None, by_format=True).maximize
    with pytest.raises(racer.ScoresError, match="are larger scores better"):
        racer.compare(np.random.default_rng(0).random((5, 3)))
