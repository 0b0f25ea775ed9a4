"""The report: one page, all of it, for whatever a store holds, and nothing in it is code."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import flat
import numpy as np
import pytest
from typed import typed

import racer

EVIL = "<script>document.title='owned'</script>"
IMG = "\"'><img src=x onerror=document.title='owned'>"


class Page(HTMLParser):
    """The tags of a page with their attributes, and its JSON."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.data, self._in = [], "", None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._in = dict(attrs).get("id") if tag == "script" else None

    def handle_data(self, data):
        if self._in == "result":
            self.data += data


def reported(path, tmp_path):
    output = tmp_path / "report.html"
    done = typed("report", path, "-o", output, exits=0)
    assert done.stdout.strip() == str(output)
    text = output.read_text(encoding="utf-8")
    assert len(text) < 1_000_000
    assert not re.findall(r'(?:src|href)="(?!data:|#)', text)  # it needs no network
    page = Page(text)
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    return text, page, json.loads(page.data)


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    """Report a tuning whose names, categories, values, instances and messages are markup."""
    folder = tmp_path_factory.mktemp("evil")
    space = racer.Space(
        {EVIL: racer.Real(0, 1), "k": racer.Categorical([IMG, "b"]), "q": racer.Real(0, 1)},
        conditions={"q": racer.Param("k") == IMG},
    )

    def evaluate(config, instance, seed):
        if config[EVIL] > 0.8:
            raise ValueError(EVIL + IMG)
        return config[EVIL] + (config["k"] == "b") + np.random.default_rng(seed).normal(0, 0.1)

    path = folder / f"{EVIL[1:7]}<b>.db"
    flat.tune(
        space, evaluate, [EVIL, IMG, "c"], budget=250, seed=1, store=path, test_instances=[EVIL]
    )
    return path, *reported(path, folder)


@pytest.mark.thorough
def test_a_tuning_of_evil_names(evil):
    path, text, page, data = evil
    assert [attrs for tag, attrs in page.tags if tag == "script"] == [
        {"type": "application/json", "id": "result"},
        {},
    ]
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert "img" not in {
        tag for tag, attrs in page.tags if not attrs.get("src", "d").startswith("data:")
    }
    result = racer.load(path)
    assert data["best"] == result.best
    assert data["survivors"][0]["held_out_blocks"] == 1
    for title in (
        *("The best", "The races", "Elites", "Sampled values", "Importance of the parameters"),
        *("Failures", "Settings and cost"),
    ):
        assert f"<h2>{title}</h2>" in text
    assert text.count("<figcaption>") >= 6
    assert f"{len(result.failures)} of 250 evaluations failed" in text
    assert "P(best)" in text


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")
def test_a_browser_runs_nothing_of_it(evil, tmp_path):
    options = [
        *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
        f"--user-data-dir={tmp_path / 'profile'}",
    ]
    page = f"file://{evil[0].parent / 'report.html'}"
    seen = subprocess.run(
        ["chromium", *options, "--dump-dom", page], capture_output=True, text=True, check=True
    )
    assert "<title>Report of a tuning</title>" in seen.stdout
    assert "&lt;script&gt;" in seen.stdout


@pytest.mark.filterwarnings("ignore:block .* is set aside:racer.RacerWarning")
@pytest.mark.parametrize("kind", ["raced", "interrupted", "all-failed", "one-candidate"])
def test_whatever_a_store_holds(tmp_path, path, kind):

    def evaluate(config, instance, seed):
        if kind == "interrupted" and instance == 7:
            raise KeyboardInterrupt
        if kind == "all-failed":
            raise (ValueError if config else TypeError)(config)
        return config / 3 + np.random.default_rng([seed, config]).normal()

    many = 1 if kind == "one-candidate" else 6
    try:
        racer.race(range(many), evaluate, range(20), budget=90, seed=1, store=path)
    except racer.RaceInterrupted:
        assert kind == "interrupted"
    text, _, data = reported(path, tmp_path)
    result = racer.load(path)
    assert data["ended"] == result.ended.value
    assert all(sentence in text.replace("&gt;", ">") for sentence in result.verdict)
    assert ("Figure 1." in text) is (kind != "one-candidate")


def test_of_a_program_failures_have_command_lines(tmp_path, path):
    command = racer.Command(["sh", "-c", "exit ${{#0}}", "{x}", "{instance}", "{seed}"])
    with pytest.warns(racer.RacerWarning, match="set aside"):
        result = racer.race([{"x": "a b"}, {"x": 2}], command, ["i 1"], budget=10, store=path)
    text, *_ = reported(path, tmp_path)
    seed = result.stream.place(0).seed
    assert f"sh -c &#39;exit ${{#0}}&#39; &#39;a b&#39; &#39;i 1&#39; {seed}" in text


def test_a_result_reports_itself_with_its_utilisation(tmp_path):
    result = racer.race(range(3), lambda c, i, s: c + s % 7, budget=30, seed=1)
    result.report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert re.search(r"s on the wall with 1 worker\(s\); workers were evaluating for \d+% of", text)


def test_a_page_that_cannot_be_written(tmp_path, path):
    racer.race([1], lambda *_: 0, budget=10, store=path)
    done = typed("report", path, "-o", tmp_path / "no" / "x.html", exits=1)
    assert "cannot be written" in done.stderr
