"""Scores as CSV, promptfoo and lm-evaluation-harness write them."""

import json
import math
import shutil
import zipfile
from pathlib import Path

import door_pages
import numpy as np
import pandas as pd
import pytest
from typed import typed

import racer
from racer.scenario.csv_files import read_csv
from racer.scenario.score_files import score_table

# promptfoo 0.121.20 and lm_eval 0.4.13 wrote these, with a provider that repeats the prompt, and
# with the model "dummy"
FILES = Path(__file__).parents[1] / "data" / "score_files"
PROMPTFOO = FILES / "promptfoo.json"
LM_EVAL = FILES / "lm_eval"


def table(*paths, **names):
    return score_table(racer.read_scores(*paths, **names))


@pytest.fixture(name="csv")
def _csv(tmp_path):
    def write(text, name="scores.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_folds_are_averaged(csv):
    frame = racer.read_scores(csv("item,fold,a,b\nx,1,1,2\nx,2,3,2\n"))
    assert frame["score"].tolist() == [2.0, 2.0]


def test_a_first_column_of_counted_rows_names_the_instances(csv):
    rows = [(11, 3, 4), (12, 3, 5), (13, 2, 4)]
    path = csv("nr,a,b\n" + "".join(f"{nr},{a},{b}\n" for nr, a, b in rows))
    with pytest.warns(racer.RacerWarning, match=r"Column 'nr', of numbers, names the data sets"):
        found = table(path)
    assert found.to_dict("list") == {"a": [3.0, 3.0, 2.0], "b": [4.0, 5.0, 4.0]}
    assert list(found.index) == ["11", "12", "13"]


@pytest.mark.parametrize("numbers", ["0 1 3", "007 008 011", "3 1 2"])
def test_an_index_with_gaps_beside_names_is_left_out_too(csv, numbers):
    first, second, third = numbers.split()
    rows = f"{first},x,1,2\n{second},y,3,4\n{third},z,5,7\n"
    assert table(csv(f",problem,a,b\n{rows}")).index.tolist() == ["x", "y", "z"]
    long = f",problem,model,score\n{first},x,a,1\n{second},x,b,2\n{third},y,a,3\n"
    assert table(csv(long)).index.tolist() == ["x", "y"]
    alone = csv(f",a,b\n{first},1,2\n{second},3,4\n{third},5,7\n")
    assert table(alone).index.tolist() == numbers.split()
    shown = typed("compare", csv(f",problem,a,b\n{rows}"), "--maximize", exits=0)
    assert "2 algorithms on 3 data sets" in shown.output


def test_promptfoo_names_prompts_where_the_provider_is_one():
    found = table(PROMPTFOO)
    assert found.to_dict("list") == {
        "The answer to {{question}} is {{right}}": [1.0, 0.5, 1.0],
        "I do not know {{question}}": [0.0, 0.0, 0.0],
    }
    assert list(found.index) == ["0", "1", "2"]


def test_promptfoo_leaves_out_answers_that_never_came():
    found = table(FILES / "promptfoo.jsonl")
    answer, unknown = "The answer to {{question}} is {{right}}", "I do not know {{question}}"
    assert found.columns.tolist() == [
        *(f"[parrot] {answer}", f"[parrot] {unknown}", f"[silent] {answer}", f"[silent] {unknown}")
    ]
    assert found.isna().to_numpy().tolist() == [[False] * 4, [False, False, True, True]]


def test_promptfoo_names_providers_where_the_prompt_is_one_and_equals_by_number(csv):
    record = {"testIdx": 0, "score": 1, "prompt": {"label": "p"}}
    records = [{**record, "promptIdx": i, "provider": {"id": name}} for i, name in enumerate("aab")]
    path = csv("\n".join(map(json.dumps, records)), "out.jsonl")
    assert list(table(path)) == ["a (column 0)", "a (column 1)", "b"]


def test_scores_that_are_nan_are_unknown(csv, tmp_path):
    record = {"testIdx": 0, "score": 1, "prompt": {"label": "p"}}
    records = [{**record, "promptIdx": i, "provider": {"id": name}} for i, name in enumerate("ab")]
    records[1]["score"] = math.nan
    path = csv("\n".join(map(json.dumps, records)), "out.jsonl")
    assert racer.read_scores(path).to_dict("list") == {
        "algorithm": ["a"],
        "instance": ["0"],
        "score": [1.0],
    }
    samples = [
        {"doc_id": i, "filter": "none", "metrics": ["acc"], "acc": acc}
        for i, acc in enumerate([math.nan, 1])
    ]
    path = tmp_path / "samples_sums_2026-01-01T10-00-00.000001.jsonl"
    path.write_text("\n".join(map(json.dumps, samples)))
    assert racer.read_scores(path)["instance"].tolist() == ["sums/1"]


def test_promptfoo_has_scores_by_name():
    found = racer.read_scores(PROMPTFOO, score="wit")
    assert found["instance"].tolist() == ["1", "1"]
    assert found["score"].tolist() == [0.0, 0.0]


def test_lm_eval_asks_which_metric_and_filter():
    sums = next(LM_EVAL.glob("dummy/samples_sums_*.jsonl"))
    assert table(sums).to_dict() == {"dummy": {f"sums/{i}": 0.0 for i in range(5)}}
    with pytest.raises(racer.ScoresError, match=r"several metrics among acc,none, acc_norm,none"):
        racer.read_scores(LM_EVAL)
    with pytest.raises(racer.ScoresError, match="no metric 'acc' among exact_match,none"):
        racer.read_scores(LM_EVAL, score="acc")
    (choices,) = LM_EVAL.glob("dummy/samples_choices_*.jsonl")
    found = table(choices, score="acc,none")["dummy"]
    records = [json.loads(line) for line in choices.read_text(encoding="utf-8").splitlines()]
    assert found.to_dict() == {f"choices/{r['doc_id']}": r["acc"] for r in records}
    assert found.sum() == pytest.approx(3.0)


def test_lm_eval_takes_a_folder_of_models_and_the_latest_run_of_each(tmp_path):
    (sums,) = LM_EVAL.glob("dummy/samples_sums_*.jsonl")
    text = sums.read_text(encoding="utf-8")
    for model, time, right in (("m1", "10", 1), ("m1", "11", 0), ("m2", "10", 1)):
        (tmp_path / model).mkdir(exist_ok=True)
        path = tmp_path / model / f"samples_sums_2026-01-01T{time}-00-00.000001.jsonl"
        path.write_text(text.replace('"exact_match": 0.0', f'"exact_match": {right}'), "utf-8")
    found = table(tmp_path)
    assert found.sum().to_dict() == {"m1": 0.0, "m2": 5.0}


def test_one_filter_of_several_is_taken(csv):
    record = {"metrics": ["em"], "doc_id": 3}
    records = [{**record, "filter": "strict", "em": 0.0}, {**record, "filter": "loose", "em": True}]
    path = csv("\n".join(map(json.dumps, records)), "samples_x_2026-01-01T00-00-00.1.jsonl")
    assert racer.read_scores(path, score="em,loose")["score"].tolist() == [1.0]
    with pytest.raises(racer.ScoresError, match="em,strict, em,loose"):
        racer.read_scores(path, score="em")


def test_a_line_of_json_ends_at_a_line_feed_only(csv):
    """JSON allows U+2028 and U+0085 within strings, and most writers leave them as they are."""
    record = {"metrics": ["acc"], "filter": "none", "acc": 1.0}
    texts = [f"a\u2028b\u0085c{number}" for number in range(3)]
    records = [{**record, "doc_id": n, "doc": text} for n, text in enumerate(texts)]
    text = "\r\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    path = csv(text, "samples_t_2024-01-01T00-00-00.1.jsonl")
    assert racer.read_scores(path)["score"].tolist() == [1.0] * 3


def test_several_files_are_put_together_but_none_twice(tmp_path):
    (sums,) = LM_EVAL.glob("dummy/samples_sums_*.jsonl")
    (tmp_path / "other").mkdir()
    other = shutil.copy(sums, tmp_path / "other")
    assert list(table(sums, other)) == ["dummy", "other"]
    with pytest.raises(racer.ScoresError, match=r"more than one score of 'dummy' on 'sums/0'"):
        racer.read_scores(sums, sums)


QUESTIONS = [f"q{n}" for n in range(6)]


def answer(number, question, score=1.0, prompt="p", provider="a", **more):
    return {
        "promptIdx": 0,
        "testIdx": number,
        "score": score,
        "vars": {"question": question},
        "prompt": {"label": prompt},
        "provider": {"id": provider},
        **more,
    }


def doc_record(number, question, score=1.0, **more):
    hashed = {"doc_hash": f"hash of {question}"} if question else {}
    record = {"doc_id": number, "filter": "none", "metrics": ["acc"], "acc": score}
    return {**record, **hashed, **more}


def jsonl(folder, name, records):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("\n".join(map(json.dumps, records)), "utf-8")
    return folder / name


@pytest.mark.parametrize("second", [[3, 0, 4, 1, 5, 2], [5, 4], [2, 9, 0]])
@pytest.mark.parametrize("kind", ["promptfoo", "lm_eval", "csv"])
def test_items_are_paired_by_what_records_say_of_them(tmp_path, kind, second):
    """Another order, fewer, or one that is new: each algorithm's scores stay with their items."""
    paths = []
    for place, order in enumerate((range(6), second)):
        scored = [(n, f"q{item}", item / 10 + place) for n, item in enumerate(order)]
        folder = tmp_path / f"m{place}"
        if kind == "csv":
            lines = ["item,score", *(f"{q},{score}" for _, q, score in scored)]
            folder.mkdir()
            paths.append(folder / "scores.csv")
            paths[-1].write_text("\n".join(lines))
        elif kind == "promptfoo":
            paths.append(
                jsonl(folder, "o.jsonl", [answer(*s, provider=f"m{place}") for s in scored])
            )
        else:
            name = f"samples_sums_2026-01-0{place + 1}T10-00-00.1.jsonl"
            paths.append(jsonl(folder, name, [doc_record(*s) for s in scored]))
    found = table(*paths)
    assert len(found) == len({*range(6), *second})
    assert sorted(name.partition("/")[0] for name in found) == ["m0", "m1"]
    both = found.dropna()
    assert len(both) == len({*range(6)} & {*second})
    assert np.allclose(both.max(axis=1) - both.min(axis=1), 1.0)


def test_repeats_of_an_item_are_one_instance(tmp_path):
    """Also where a run adds to the vars what is its own, and where tests have a description only."""
    session = [{"vars": {"question": "q0", "sessionId": k, "_conversation": [k]}} for k in range(3)]
    other = {"vars": {}, "testCase": {"description": "other"}}
    records = [
        *(answer(k, None, k / 2, **more) for k, more in enumerate(session)),
        *(answer(k, None, 0.25, **other) for k in (3, 4)),
        answer(5, "q0", None, failureReason=2),
    ]
    found = racer.read_scores(jsonl(tmp_path, "o.jsonl", records))
    assert found["instance"].tolist() == ["0", "3"]
    assert found["score"].tolist() == [0.5, 0.25]
    docs = [doc_record(n, "q", n / 2) for n in range(3)]
    path = jsonl(tmp_path, "samples_sums_2026-01-01T10-00-00.1.jsonl", docs)
    assert table(path).iloc[:, 0].to_dict() == {"sums/0": 0.5}


@pytest.mark.parametrize("kind", ["promptfoo", "lm_eval", "csv"])
def test_items_without_identity_are_read_from_one_file_only(tmp_path, kind):
    paths = []
    for place in range(2):
        folder = tmp_path / f"m{place}"
        if kind == "promptfoo":
            records = [answer(n, None, provider=f"m{place}", vars={}) for n in range(3)]
            paths.append(jsonl(folder, "o.jsonl", records))
        elif kind == "lm_eval":
            name = "samples_sums_2026-01-01T10-00-00.1.jsonl"
            paths.append(jsonl(folder, name, [doc_record(n, None) for n in range(3)]))
        else:
            folder.mkdir()
            paths.append(folder / "scores.csv")
            paths[-1].write_text(f"a{place},b{place}\n1.5,2\n2,3\n3.5,1\n")
    with pytest.raises(racer.ScoresError, match="no names of items, only places in the file"):
        racer.read_scores(*paths)
    assert len(table(paths[0])) == 3


def test_a_file_for_each_model_is_named_by_records_or_else_by_the_file(tmp_path):
    for name in ("m1", "m2"):
        records = [answer(n, q, provider=name) for n, q in enumerate(QUESTIONS)]
        jsonl(tmp_path / "foo", f"{name}.jsonl", records)
        same = [answer(n, q) for n, q in enumerate(QUESTIONS)]
        jsonl(tmp_path / "same", f"{name}.jsonl", same)
    assert list(table(tmp_path / "foo")) == ["m1", "m2"]
    assert list(table(tmp_path / "same")) == ["m1", "m2"]


UP, DOWN, ASKED = True, False, None


@pytest.mark.parametrize(
    ("kind", "metric", "higher", "larger"),
    [
        *[("promptfoo", name, {}, UP) for name in ("", "wit", "score")],
        *[("promptfoo", name, {}, DOWN) for name in ("latency", "error rate")],
        *[("lm_eval", name, {}, UP) for name in ("acc", "exact_match", "bleu")],
        *[("lm_eval", name, {}, DOWN) for name in ("word_perplexity", "ter")],
        *[("lm_eval", name, {}, ASKED) for name in ("mc9", "likelihood_diff")],
        *[("lm_eval", "mc9", {"mc9": said}, said) for said in (UP, DOWN, ASKED)],
        *[("lm_eval", name, {"acc": UP, "ppl": DOWN}, name == "acc") for name in ("acc", "ppl")],
        *[("lm_eval", "acc", {"acc": DOWN}, DOWN), ("lm_eval", "acc", {"acc": None}, UP)],
        *[("lm_eval", "acc", {"acc": "yes"}, UP), ("lm_eval", "mc9", {"acc": UP}, ASKED)],
    ],
)
def test_which_way_is_up_by_the_file_or_its_score(tmp_path, kind, metric, higher, larger):
    """Compared, and raced on, without a flag: the right way up, or asked about."""
    for place, model in enumerate(("low", "high")):
        rows = [(n, q, place + n / 10, model) for n, q in enumerate(QUESTIONS)]
        if kind == "promptfoo":
            named = [answer(n, q, v, provider=m, namedScores={metric: v}) for n, q, v, m in rows]
            jsonl(tmp_path, f"{model}.jsonl", named)
        else:
            docs = [doc_record(n, q, metrics=[metric], **{metric: v}) for n, q, v, _ in rows]
            jsonl(tmp_path / model, "samples_sums_2026-01-01T10-00-00.1.jsonl", docs)
            results = tmp_path / model / "results_2026-01-01T10-00-00.1.json"
            results.write_text(json.dumps({"higher_is_better": {"sums": higher}}))
    score = ["--score", metric] * bool(metric)
    done = [typed(command, tmp_path, *score, "--json") for command in ("compare", "race")]
    assert [one.exit_code for one in done] == [2 if larger is None else 0] * 2, done[1].output
    if larger is None:
        assert all("are larger scores better?" in one.stderr for one in done)
        return
    compared, raced = (json.loads(one.stdout) for one in done)
    assert compared["maximize"] == larger
    assert raced["best"] == ("high" if larger else "low")


def test_scores_of_which_larger_and_smaller_are_better_are_not_put_together(csv):
    paths = csv("item,accuracy\nx,1\ny,2\n", "a.csv"), csv("item,error\nx,1\ny,2\n", "b.csv")
    with pytest.raises(racer.ScoresError, match=r"a\.csv: larger .* but smaller .*b\.csv"):
        racer.read_scores(*paths)


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_what_excel_leaves_empty_is_left_out_of_csv(csv, mark):
    text = "data,a,b\nx,0.5,1\n,,\ny,0.25,2\n"
    wider = "\n".join(f",{line},," for line in [*text.splitlines(), ",,", " ,,"])
    for form in (text, wider):
        assert table(csv(form.replace(",", mark))).to_dict("index") == {
            "x": {"a": 0.5, "b": 1.0},
            "y": {"a": 0.25, "b": 2.0},
        }


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "{", "is not JSON"),
        ("a.json", "[1]", "neither output of promptfoo"),
        ("a.eval", "PK", "no log of inspect_ai: File is not a zip file"),
        ("a.json", '{"results": {"results": [1]}}', "neither|not like"),
        ("a.jsonl", '{"doc_id": 1, "filter": "f"}\n{"doc_id": 2}', "record 2 is not like"),
        ("a.jsonl", '{"doc_id": 1}\n{', "line 2 is not JSON"),
        ("a.json", '{"n-samples": {}, "higher_is_better": {}}', "--log_samples"),
        ("a.jsonl", '{"promptIdx": 0, "testIdx": 0, "score": "x"}', "test 0: score is 'x', not"),
        ("a.jsonl", '{"promptIdx": [], "testIdx": 0}', r"record 1: promptIdx is \[\], of another"),
        ("a.jsonl", '{"doc_id": 0, "filter": "f", "metrics": 5}', "metrics is 5, of another"),
        ("a.jsonl", '{"doc_id": 0, "filter": "f", "metrics": [[]]}', "not names"),
        ("a.csv", "a,b\n", "a header and no rows"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(csv, name, text, message):
    path = csv(text, name)
    with pytest.raises(racer.ScoresError, match=message) as raised:
        racer.read_scores(path)
    assert str(path) in str(raised.value)


def test_more_that_is_refused(tmp_path):
    with pytest.raises(racer.SettingError, match="no path"):
        racer.read_scores()
    with pytest.raises(racer.ScoresError, match=r"no samples_\*\.jsonl in this folder"):
        racer.read_scores(tmp_path)
    with pytest.raises(racer.SettingError, match="is no table"):
        racer.read_scores(PROMPTFOO, algorithm="model")
    with pytest.raises(racer.ScoresError, match="there is no score 'nonsense' in it"):
        racer.read_scores(PROMPTFOO, score="nonsense")


def test_the_page_runs_and_prints_what_it_says(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copy(PROMPTFOO, "out.json")
    (sums,) = LM_EVAL.glob("dummy/samples_sums_*.jsonl")
    for model in ("one", "other"):
        Path("results", model).mkdir(parents=True)
        shutil.copy(sums, f"results/{model}")
    assert isinstance(door_pages.run("read_scores")["scores"], pd.DataFrame)
    capsys.readouterr()
    door_pages.run("racer.race(")
    assert [capsys.readouterr().out] == door_pages.blocks("text")
    lines = [line for block in door_pages.blocks("sh") for line in block.splitlines()]
    shown = [line for line in lines if line.startswith("racer ") and " -- " not in line]
    assert len(shown) == 3
    for line in shown:
        done = typed(*line.split()[1:])
        assert done.exit_code in {0, 3}, done.output


EUROPEAN = "data;A;B\none;61,8;0,5\ntwo;60;1,25e1\nthree;;7\n"
WITH_SPREAD = "data,A,B\none,61.8 ± 1.2,7\ntwo,60.25+-0.5,8\nthree,$x$,9\n"


@pytest.mark.parametrize("text", ["d A B\nx 1 2\ny 3 4\n", "d|A|B\nx|1|2\ny|3|4\n"])
def test_columns_that_blanks_or_bars_separate_are_refused_as_one(csv, text):
    with pytest.raises(racer.ScoresError, match=r"one column, .* separate columns by commas"):
        racer.read_scores(csv(text))


@pytest.mark.parametrize(
    "text",
    [
        '"data, set";"Smith, J., 2020, A";"b, c"\nx;1,5;2\n',
        '\n"data, set","Smith, J., 2020, A","b, c"\nx,1.5,2\n',
    ],
)
def test_delimiters_within_quotes_are_part_of_names(csv, text):
    assert table(csv(text)).loc["x"].to_dict() == {"Smith, J., 2020, A": 1.5, "b, c": 2.0}


def test_a_name_may_have_several_lines(csv):
    found = table(csv('data,"a; b;\nc; d",e\nx,1,2\n'))
    assert found.loc["x"].to_dict() == {"a; b;\nc; d": 1.0, "e": 2.0}


def test_a_decimal_comma_is_read(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(EUROPEAN, encoding="utf-8")
    frame = read_csv(path).table
    assert frame["A"].tolist()[:2] == [61.8, 60.0]
    assert np.isnan(frame["A"][2])
    assert frame["B"].tolist() == [0.5, 12.5, 7.0]
    assert frame["data"].tolist() == ["one", "two", "three"]


def test_the_mean_of_mean_and_spread_is_read_with_a_warning(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(WITH_SPREAD.replace("$x$", r"61.5 \pm 2"), encoding="utf-8")
    with pytest.warns(racer.RacerWarning, match="of columns A, mean ± spread, the means are read"):
        frame = read_csv(path).table
    assert frame["A"].tolist() == [61.8, 60.25, 61.5]


@pytest.mark.parametrize(
    ("text", "number", "decimal"),
    [
        ('d,a,b\nx,"1,234",987\ny,"2,345",999\nz,3456,"1,001"\n', "1,234", "1.234"),
        ('d,a,b\nx,"1,234",0.5\ny,"2,345",0.25\n', "1,234", "1.234"),
        ("d\ta\tb\nx\t-1,234\t1\ny\t987\t2\n", "-1,234", "-1.234"),
        ("d;a;b\nx;1.234;0,5\ny;987;0,25\n", "1.234", "1,234"),
    ],
)
def test_a_number_that_may_have_thousands_is_refused(csv, text, number, decimal):
    whole = number.replace(",", "").replace(".", "")
    with pytest.raises(racer.ScoresError, match=f"{number} may be {whole} .* write {decimal}$"):
        racer.read_scores(csv(text))
    for meant in (whole, decimal):
        corrected = text.replace(number, meant).replace("2,345", "2345").replace("1,001", "1001")
        assert table(csv(corrected)).loc["x", "a"] == float(meant.replace(",", "."))


@pytest.mark.parametrize(
    "text",
    [
        'd,a,b\nx,"1,234",1\ny,"0,987",2\n',
        'd,a,b\nx,"1,234 ± 0,056",1\ny,"2,345 ± 0,06",2\n',
        "d;a;b\nx;1,234;1\ny;2,345;2\n",
        "d\ta\tb\nx\t1,234\t1\ny\t2,3\t2\n",
        "d;a;b\nx;1.234;1\ny;2.345;2\n",
    ],
)
@pytest.mark.filterwarnings("ignore:.*mean ± spread:racer.RacerWarning")
def test_three_decimals_are_read_where_the_file_shows_its_decimal_mark(csv, text):
    assert table(csv(text)).loc["x", "a"] == 1.234


def test_labels_that_look_like_numbers_stay_as_they_are(csv):
    versions = csv("algorithm,task,score\n1.1,01,3\n1.10,01,5\n1.1,1,4\n1.10,1,6\n")
    assert table(versions, score="score").to_dict() == {
        "1.1": {"01": 3.0, "1": 4.0},
        "1.10": {"01": 5.0, "1": 6.0},
    }
    large = csv("id,a,b\n9007199254740993,1,2\n9007199254740992,2,3\n5,3,4\n")
    assert list(table(large).index) == ["9007199254740993", "9007199254740992", "5"]
    folds = csv("task,fold,a,b\nx,1.1,1,2\nx,1.10,3,2\n")
    assert table(folds, fold="fold").loc["x", "a"] == 2.0


def test_labels_that_are_whole_floats_are_the_same_as_whole_numbers(csv):
    floats = csv("task,a,b\n1.0,1,2\n12.0,3,4\n")
    assert list(table(floats).index) == ["1", "12"]
    both = csv("task,fold,a,b\n1,1,1,2\n1.0,2,3,4\n02,1,3,4\n2,1,3,4\n")
    assert list(table(both).index) == ["1", "02", "2"]


def test_labels_have_no_marks_of_thousands(csv):
    path = csv("version;a;b\n1.100;0,5;0,7\n1.110;0,25;0,5\n")
    assert list(table(path, data_set="version").index) == ["1.100", "1.110"]


def test_a_label_that_is_missing_is_refused(csv):
    for gap in ("", "nan"):
        with pytest.raises(racer.ScoresError, match="column 'task' has no value in row 1"):
            racer.read_scores(csv(f"task,a,b\n1,1,2\n{gap},3,4\n"))


def log(path, model, right, **more):
    """Write a log of inspect_ai: nine samples in two epochs, as its earlier versions pack it, or JSON."""
    samples = [
        {"id": i, "epoch": e, "scores": {"match": {"value": grade}}}
        for e, grades in enumerate(right)
        for i, grade in zip(range(9), grades, strict=True)
    ]
    samples = [{**sample, "id": f"q{sample['id']}", **more} for sample in samples]
    head = {"eval": {"model": model}, "plan": {}}
    if path.suffix == ".json":
        path.write_text(json.dumps({**head, "samples": samples[::-1]}))
        return
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header.json", json.dumps(head))
        for sample in samples:
            file.writestr(f"samples/{sample['id']}_{sample['epoch']}.json", json.dumps(sample))


@pytest.mark.parametrize("models", [("good", "bad"), ("same", "same")])
def test_logs_of_inspect_ai_are_paired_by_sample_and_epochs_are_repeats(tmp_path, models):
    log(tmp_path / "good.eval", models[0], ["C" * 9] * 2)
    log(tmp_path / "bad.json", models[1], ["CCCCIIIII", "IIIIIIIII"])
    found = table(tmp_path)
    assert found["good"].tolist() == [1.0] * 9
    assert found["bad"][[f"q{i}" for i in range(9)]].tolist() == [0.5] * 4 + [0.0] * 5
    assert json.loads(typed("race", tmp_path, "--json").stdout)["best"] == "good"
    with pytest.raises(racer.ScoresError, match="no metric 'f1' among match"):
        racer.read_scores(tmp_path, score="f1")


def test_samples_of_inspect_ai_that_are_numbered_are_known_by_their_input_too(tmp_path):
    for model, text in (("a", "this"), ("b", "this"), ("c", "that")):
        log(tmp_path / f"{model}.json", model, ["C" * 9], id=1, input=text)
    assert table(tmp_path).notna().to_numpy().tolist() == [
        [True, True, False],
        [False, False, True],
    ]
    (tmp_path / "c.json").write_text('{"eval": {}, "plan": {}, "samples": []}')
    with pytest.raises(racer.ScoresError, match="no log of inspect_ai: KeyError"):
        racer.read_scores(tmp_path)


@pytest.mark.parametrize("version", ["0.4.0", "0.4.3"])
def test_samples_of_lm_eval_before_it_named_filter_and_metrics_are_read(tmp_path, version):
    for who, score in (("good", 1), ("bad", 0.5)):
        doc = {"doc": {"q": 1}, "resps": [], "filtered_resps": [], "acc": score}
        records = [{"doc_id": i, "doc_hash": f"h{i}", **doc} for i in (0, 1)]
        path = jsonl(tmp_path / who, "samples_arc_2024-06-01T10-00-00.1.jsonl", records)
        if version == "0.4.0":
            path.write_text(json.dumps(records))
    assert table(tmp_path).to_dict("list") == {"bad": [0.5, 0.5], "good": [1.0, 1.0]}


def test_a_cell_of_more_than_100_letters_is_no_number(csv):
    """A pattern that is tried from each digit would take a quarter of an hour."""
    assert table(csv(f"item,a,b\nx,1,0.{'1' * 98}\n")).loc["x", "b"] == pytest.approx(1 / 9)
    with pytest.raises(racer.ScoresError, match=r"0\.1+\.\.\.1+' in row 0.*not a number") as error:
        racer.read_scores(csv(f"item,a,b\nx,1,0.{'1' * 100_000}\n"))
    assert len(str(error.value)) < 400
