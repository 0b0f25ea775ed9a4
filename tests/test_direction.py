"""Which way is up: what the caller says, the format, or the name of the metric; else a question."""

import json
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
    *("-rmse", "mean_test_neg_log_loss", "R²", "episodic_return", "rollout/ep_rew_mean"),
    *("IS (↑)", "Average ⬆️", "score (higher is better)", "detection F1", "minus loss"),
    *("BLEU", "rougeL recall", "exact_match,strict-match", "pass@1", "success rate", "speedup"),
    *("mean reward", "win rate", "log_likelihood", "mIoU", "instances solved", "hypervolume"),
)
SMALLER = (
    *("error", "error_rate", "Err. (%)", "log loss", "RMSE", "val_loss", "mape", "wer"),
    *("time", "cpuTime", "wall-clock time [s]", "runtime_ms", "seconds", "latency p95", "PAR10"),
    *("cost_usd", "total tokens", "regret", "optimality gap", "false positive rate", "perplexity"),
    *("negative_log_likelihood", "nll", "average rank", "number of failures", "makespan"),
    *("false negative rate", "unsolved", "top1_err", "smape", "MASE", "rank_test_score"),
    *(
        "one minus accuracy",
        "-log likelihood",
        "Score ↓",
        "WER ⬇️",
        "lower_is_better",
        "time per token",
    ),
)
ASKED = (
    *("score", "value", "result", "x", "performance", "y_1", "time to accuracy", "tokens saved"),
    *("1 - accuracy", "100-AUC", "1-shot accuracy", "tokens/s", "steps per second"),
    *("accuracy drop", "f1 difference"),
    *("rank correlation", "true negative rate", "inverse error", "not solved", "bandwidth (bytes)"),
    *("Rank-1", "rank@5", "attack success rate", "accuracy_std", "acc_stderr,none", "gap closed"),
    *("mean time to failure", "time between failures", "errors fixed", "error detection rate"),
    *("1.0 - acc", "1/rmse", "exp(-mse)", "inv_mse", "accuracy ↓", "error (higher is better)"),
    *("time steps survived", "reduction in accuracy", "accuracy minus baseline", "speed (s)"),
    *("tokens per dollar", "tokens/$", "tasks per unit time", "unique crashes", "solution quality"),
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
    turned = -10.0 if re.match("neg_|-|minus|mean_test_neg", name) else 0.0  # as such a name says
    wide = (pd.DataFrame(GOOD) + turned).rename_axis("problem")
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


# Files as public tools write them, of candidates bad < mid < good: a header, what each score or data
# set or candidate has (%(u)s: larger is better; %(d)s: smaller), what decides or is asked, and the
# remedy, where it is an option.
ASK, MANY = "are larger scores better", "name the column of scores, score="
TURN = r"transpose it: scores\.set_index\('Model'\)\[\[\.\.\]\]\.T"
WIDE = "%(bad_u)s,%(good_u)s"
TABLES = {
    "OpenML": (
        "task_id,setup_id,flow_id,flow_name,data_name,function,uploader,value",
        "%(i)s,7,%(s)s,%(w)s,d%(i)s,predictive_accuracy,1,%(u)s",
        *(MANY, "--score value"),
    ),
    "OpenML, wide": ("data_name,bad,good", f"d%(i)s,{WIDE}", ASK, "--maximize"),
    "AutoML benchmark": (
        "id,task,framework,constraint,fold,type,result,metric,duration,seed,info,auc,logloss",
        "t%(i)s,d%(i)s,%(w)s,1h,0,binary,%(u)s,auc,60.5,%(n)s,,%(u)s,%(d)s",
        *(MANY, "--score logloss"),
    ),
    "AMLB": ("task,framework,metric,result", "d%(i)s,%(w)s,neg_rmse,-%(d)s", "neg_rmse", True),
    "AMLB, old": ("task,framework,metric,result", "d%(i)s,%(w)s,%(m)s,%(d)s", ASK, "--minimize"),
    "TabArena": (
        "dataset,fold,method,metric_error,time_train_s,metric,problem_type",
        "d%(i)s,0,%(w)s,%(d)s,%(u)s,roc_auc,binary",
        *(MANY, "--score metric_error"),
    ),
    "TabArena, short": (
        *(
            "dataset,method,metric_error,metric",
            "d%(i)s,%(w)s,%(d)s,roc_auc",
            "metric_error",
            False,
        ),
    ),
    "Papers with code": ("Rank,Model,Top 1,Top 5", "%(n)s,%(w)s,%(u)s,%(u)s", TURN, None),
    "one score": ("Model,Accuracy", "%(w)s,%(u)s", "each value of column 'Model' has one", None),
    "HELM": ("Model,NarrativeQA - F1,MMLU - EM", "%(w)s,%(u)s,%(u)s", TURN, None),
    "MTEB": ("Rank (Borda),Model,Banking77,STS12", "%(n)s,%(w)s,%(u)s,%(u)s", TURN, None),
    "GLUE": ("Rank\tName\tModel\tURL\tCoLA\tRTE", "%(n)s\tx\t%(w)s\t\t%(u)s\t%(u)s", TURN, None),
    "Open ASR": ("Model,WER ⬇️,RTFx ⬆️,AMI", "%(w)s,%(d)s,%(u)s,%(d)s", TURN, None),
    "timm": ("dataset,model,top1,top1_err", "d%(i)s,%(w)s,%(u)s,%(d)s", MANY, "--score top1_err"),
    "Kaggle": ("Rank,TeamName,Score", "%(n)s,%(w)s,%(u)s", "column 'TeamName' holds", None),
    "M4": ("Dataset,Method,MASE", "M%(i)s,%(w)s,%(d)s", "MASE", False),
    "M4, all": ("Dataset,Method,sMAPE,OWA", "M%(i)s,%(w)s,%(d)s,%(d)s", MANY, "--score OWA"),
    "RL": ("env_id,algo,seed,return", "E%(i)s,%(w)s,1,%(u)s", "return", True),
    "recommender": ("Dataset,Model,NDCG@10", "ml%(i)s,%(w)s,%(u)s", "NDCG@10", True),
    "hit rate": ("Dataset,Model,HR@10", "ml%(i)s,%(w)s,%(u)s", ASK, "--maximize"),
    "BEIR": ("Dataset (nDCG@10),bad,good", f"b%(i)s,{WIDE}", ASK, "--maximize"),
    "re-ID": ("dataset,model,Rank-1", "m%(i)s,%(w)s,%(u)s", ASK, "--maximize"),
    "WMT": ("lp,system,BLEU,TER,COMET", "en%(i)s,%(w)s,%(u)s,%(d)s,%(u)s", MANY, "--score TER"),
    "WER": ("dataset,model,WER", "l%(i)s,%(w)s,%(d)s", "WER", False),
    "a paper": ("dataset,model,Score ↓", "d%(i)s,%(w)s,%(d)s", "Score ↓", False),
    "attacks": ("behaviour_id,model,attack success", "b%(i)s,%(w)s,%(d)s", ASK, "--minimize"),
    "spreads": ("dataset,model,accuracy_std", "d%(i)s,%(w)s,%(d)s", ASK, "--minimize"),
    "gaps": ("instance,solver,gap closed", "b%(i)s,%(w)s,%(u)s", ASK, "--maximize"),
    "negated by hand": ("dataset,model,rmse", "d%(i)s,%(w)s,-%(d)s", ASK, "--maximize"),
    "cv_results_": (
        ",mean_fit_time,std_fit_time,params,split0_test_score,split1_test_score,split2_test_score",
        "%(s)s,.1,.01,{'C': '%(w)s'},%(u)s,%(u)s,%(u)s",
        *("data_set='split'", "--data-set split"),
    ),
    "scorer": (
        *("model,split,neg_log_loss", "%(w)s,%(i)s,-%(d)s"),
        *("data_set='split'", "--data-set split"),
    ),
    "Optuna": (",number,value,params_lr,state", "%(n)s,%(n)s,%(u)s,.1,OK", "is a parameter", None),
    "MLflow": (
        ",run_id,experiment_id,status,metrics.accuracy,params.model,params.fold",
        "%(n)s,%(w)s%(i)s,0,FINISHED,%(u)s,%(w)s,%(i)s",
        *(MANY, "--score metrics.accuracy --data-set params.fold"),
    ),
    "W&B": (
        *('"Name","Tags","Runtime","model","dataset","val_acc"', "r,,5.5,%(w)s,d%(i)s,%(u)s"),
        *(MANY, "--score val_acc"),
    ),
    "W&B, curves": (
        *("Step,bad - loss,bad - loss__MIN,good - loss", "%(i)s,%(bad_d)s,%(bad_d)s,%(good_d)s"),
        *("a spread or an extreme", None),
    ),
    "W&B, extremes": (
        *("Name,bad - loss,bad - loss__MIN,good - loss", "r%(i)s,%(bad_d)s,%(bad_d)s,%(good_d)s"),
        *("a spread or an extreme", None),
    ),
    "hyperfine": ("command,mean,stddev,max", "%(w)s,%(d)s,.1,9.5", "a spread or an extreme", None),
    "Google Benchmark": (
        *(
            "name,iterations,real_time,time_unit",
            "%(w)s,99,%(d)s,ns",
            "column 'time_unit' holds 'ns'",
            None,
        ),
    ),
    "ASlib": (
        "instance_id,repetition,algorithm,runtime,runstatus",
        *("i%(i)s,1,%(w)s,%(d)s,ok", "runtime", False),
    ),
    "ASlib, failures": (
        *("instance_id,algorithm,runtime,runstatus", "i%(i)s,%(w)s,%(d)s,%(status)s"),
        *("column 'runstatus' says of some runs that they failed.*write inf", None),
    ),
    "algorithm_runs.arff": (
        "@ATTRIBUTE id STRING\n@ATTRIBUTE algorithm STRING\n@ATTRIBUTE 'runtime' NUMERIC\n@DATA",
        *("i%(i)s,%(w)s,%(d)s", "runtime", False),
    ),
    "SAT": ("benchmark,solver,solver runtime", "b%(i)s,%(w)s,%(d)s", "solver runtime", False),
    "SAT, wide": ("instance,bad,good", "b%(i)s,%(bad_p)s,%(good_p)s", "the failures", False),
    "Mittelmann": ("instance,bad,good", "n%(i)s,>3600,%(good_d)s", "write inf", None),
    "MIPLIB": ("Instance;bad;good", "a%(i)s;%(bad_d)s;%(good_d)s", ASK, "--minimize"),
    "IOHprofiler": (
        *("ID,funcId,DIM,ERT", "%(w)s,%(i)s,5,%(d)s"),
        *("algorithm='ID'.*score=", "--algorithm ID --score ERT --minimize"),
    ),
    "COCO": (
        *("algorithm,function,dimension,best_f", "%(w)s,f%(i)s,5,%(d)s"),
        *(MANY, "--score best_f --minimize"),
    ),
    "MT-bench.jsonl": (
        "",
        '{"question_id": %(i)s, "model": "%(w)s", "judge": ["gpt-4"], "score": %(u)s, "turn": 1}',
        *(MANY, "--score score --maximize"),
    ),
    "records.jsonl": ("", '{"task": %(i)s, "model": "%(w)s", "f1": %(u)s}', "f1", True),
    "RAGAS": ("model,user_input,f1", "%(w)s,what is %(i)s?,%(u)s", "f1", True),
    "promptfoo.csv": ("q,[x] bad,[x] good", "%(i)s,[FAIL] (.1) a,[PASS] (1) b", "out.json", None),
    "promptfoo.yaml": ("evalId: x", "results: %(i)s", "out.json", None),
    "lm_eval.json": ("", '{"results": {}, "versions": {}}', "--log_samples", None),
    "DeepEval.json": ("", '{"testCases": []}', "give CSV, or .*instance.*with a record for", None),
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
    for i in range(10):
        for n, who in enumerate(("bad", "good", "mid")):
            own = {kind: value(who, i, kind) for kind in "ud"}
            all_ = {f"{w}_{k}": value(w, i, k) for w in ("bad", "good") for k in "udp"}
            more = {"status": "crash" if who == "bad" else "ok", "m": ("rmse", "auc")[i % 2]}
            lines.append(
                row % {**own, **all_, **more, "i": i, "w": who, "s": 70 + n, "n": 3 * i + n}
            )
    rows = [*dict.fromkeys(lines)] if "%(i)" in row else [*dict.fromkeys(lines[:3])]
    return "\n".join([*filter(None, [header]), *rows]) + "\n"


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.filterwarnings("ignore:.*names the data sets:racer.RacerWarning")
def test_public_files_are_ranked_the_right_way_up_or_asked_about(name, tmp_path):
    *_, words, remedy = TABLES[name]
    path = tmp_path / (name if "." in name else "scores.csv")
    path.write_text(public(name), encoding="utf-8")
    for command in ("compare", "race"):
        done, given = typed(command, path, "--json"), []
        if not isinstance(remedy, bool):
            assert done.exit_code == 2, done.output
            assert re.search(words, " ".join(done.stderr.split())), done.stderr
            if remedy is None:
                continue
            given = remedy.split()
            done = typed(command, path, *given, "--json")
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)
        if command == "race":
            assert "good" in found["best"]
            continue
        assert "good" in found["ranking"][0]["algorithm"]
        assert isinstance(remedy, str) or words in found["direction"]
        assert not isinstance(remedy, bool) or found["maximize"] == remedy
    if isinstance(remedy, bool):
        assert racer.compare(racer.read_scores(path)).maximize == remedy


# What the messages advise where no option does it: files of TABLES, changed so
ADVICE = {
    "HELM": lambda f: f.set_index("Model")[["NarrativeQA - F1", "MMLU - EM"]].T,
    "MTEB": lambda f: f.set_index("Model")[["Banking77", "STS12"]].T,
    "W&B, extremes": lambda f: f.drop(columns="bad - loss__MIN"),
    "W&B, curves": lambda f: f.drop(columns=["Step", "bad - loss__MIN"]),
    "Mittelmann": lambda f: f.assign(bad=np.inf),
    "ASlib, failures": lambda f: f.assign(
        runtime=f["runtime"].where(f["runstatus"] == "ok", np.inf)
    ),
    "hyperfine": lambda f: pd.DataFrame(
        [(i, w, value(w, i, "d")) for i in range(9) for w in f["command"]],
        columns=["instance", "algorithm", "score"],
    ),
}


@pytest.mark.parametrize("name", ADVICE)
@pytest.mark.parametrize("kind", ["frame", "csv", "json"])
def test_advice_that_is_no_option_leads_to_the_right_result(name, kind, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(public(name), encoding="utf-8")
    frame = ADVICE[name](pd.read_csv(path))
    larger = name in {"HELM", "MTEB"}
    if kind == "frame":
        found = racer.compare(frame, maximize=larger).to_dict()
    else:
        path = tmp_path / f"scores.{kind}"
        frame = frame.reset_index(names="task") if larger else frame
        records = json.dumps(frame.to_dict("records"))  # inf as Python writes it
        path.write_text(frame.to_csv(index=False) if kind == "csv" else records, encoding="utf-8")
        done = typed("compare", path, "--maximize" if larger else "--minimize", "--json")
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)
    assert "good" in found["ranking"][0]["algorithm"]


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
