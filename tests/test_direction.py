"""Which way is up: what the caller says, the format, or the name of the metric; else a question."""

import re

import numpy as np
import pandas as pd
import pytest
from typed import typed

import racer
from racer.direction import LARGER_IS_BETTER, Direction, larger_is_better

LARGER = (
    *("accuracy", "Accuracy (%)", "test_acc", "valAcc", "top5.accuracy", "F1-score", "macro F1"),
    *("roc_auc", "AUROC", "R2", "r2_score", "neg_mean_squared_error", "neg_log_loss", "ndcg@10"),
    *("BLEU", "rougeL recall", "exact_match,strict-match", "pass@1", "success rate", "speedup"),
    *("mean reward", "win rate", "log_likelihood", "mIoU", "instances solved", "hypervolume"),
)
SMALLER = (
    *("error", "error_rate", "Err. (%)", "log loss", "RMSE", "val_loss", "mape", "wer"),
    *("time", "cpuTime", "wall-clock time [s]", "runtime_ms", "seconds", "latency p95", "PAR10"),
    *("cost_usd", "total tokens", "regret", "optimality gap", "false positive rate", "perplexity"),
    *("negative_log_likelihood", "nll", "average rank", "number of failures", "makespan"),
    *("false negative rate", "unsolved"),
)
ASKED = (
    *("score", "value", "result", "x", "performance", "y_1", "time to accuracy", "tokens saved"),
    *("1 - accuracy", "100-AUC", "1-shot accuracy", "tokens/s", "steps per second"),
    *("accuracy drop", "f1 difference"),
    *("rank correlation", "true negative rate", "inverse error", "not solved", "bandwidth (bytes)"),
    *("error reduction", "cost per success", "objective", "fitness", "C4.5", "loss of accuracy"),
)
GOOD = {"good": [5.0, 6.0, 7.0, 5.5, 6.5, 8.0], "bad": [1.0, 2.0, 1.5, 2.5, 1.0, 2.0]}


@pytest.mark.parametrize(
    ("names", "said"), [(LARGER, True), (SMALLER, False), (ASKED, None)], ids=["up", "down", "ask"]
)
def test_what_the_name_of_a_metric_says(names, said):
    assert {name: larger_is_better(name) for name in names} == dict.fromkeys(names, said)


@pytest.mark.parametrize("name", [*LARGER, *SMALLER, *ASKED])
@pytest.mark.parametrize("form", ["frame", "file", "race"])
def test_a_table_is_ranked_that_way_or_asked_about(name, form, tmp_path):
    """Long with the metric's name, a file; compared, or raced on."""
    wide = pd.DataFrame(GOOD).rename_axis("problem")
    long = wide.melt(ignore_index=False, var_name="model", value_name=name).reset_index()
    path = tmp_path / "scores.csv"
    long.to_csv(path, index=False)
    larger, question = larger_is_better(name), re.compile("are larger scores better.*--minimize")
    if form in {"file", "race"}:
        done = typed("compare" if form == "file" else "race", path, "--json")
        assert (done.exit_code == 2) == (larger is None), done.output
        assert bool(question.search(done.stderr)) == (larger is None)
        return
    if larger is None:
        with pytest.raises(racer.ScoresError, match=question):
            racer.compare(long)
        return
    found = racer.compare(long)
    assert found.maximize == larger
    assert ("good" in found.ranking["algorithm"][0]) == larger
    assert "assumed of" in str(found).splitlines()[1]


@pytest.mark.parametrize("name", ["focal loss", "TimeGPT", "accuracy", "error", "rank SVM"])
def test_names_of_algorithms_say_nothing(name):
    table = pd.DataFrame(GOOD).add_prefix(f"{name} of ")
    with pytest.raises(racer.ScoresError, match="are larger scores better"):
        racer.compare(table)


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
        found = racer.compare(table, maximize=maximize)
        assert ("good" in found.ranking["algorithm"][0]) == maximize
        opposite = racer.compare(-table, maximize=not maximize)
        assert opposite.pairs.equals(found.pairs)


def test_the_format_decides_before_the_names():
    table = pd.DataFrame(GOOD)
    table.attrs[LARGER_IS_BETTER] = True
    assert racer.compare(table).direction == "larger is better, as the file says"
    assert Direction.of("latency", None, by_format=True).maximize
    with pytest.raises(racer.ScoresError, match="are larger scores better"):
        racer.compare(np.random.default_rng(0).random((5, 3)))
