"""Acceptance of proposals in GEPA's own loop, with an adapter that asks no model."""

import random
from types import SimpleNamespace

import door_pages
import pytest
from click.testing import CliRunner

import racer
from experiments import gepa_acceptance
from racer.deciders import AnytimeRace
from racer.integrations.gepa import RaceAcceptance

gepa = pytest.importorskip("gepa")
TRAIN, VALIDATION = list(range(1000, 1120)), list(range(40))


class Adapter:
    """Answers right with the probability that is the text of the candidate."""

    propose_new_texts = None

    def __init__(self):
        self.calls = []

    def evaluate(self, batch, candidate, capture_traces=False):
        from gepa.core.adapter import EvaluationBatch

        self.calls += [(candidate["prompt"], item) for item in batch]
        share = float(candidate["prompt"])
        draws = [random.Random(f"{item} {candidate['prompt']}").random() for item in batch]
        scores = [float(draw < share) for draw in draws]
        return EvaluationBatch(scores, scores, [{}] * len(batch) if capture_traces else None)

    def make_reflective_dataset(self, candidate, batch, components):
        return {name: [{}] for name in components}


def optimize(adapter, criterion, step, calls):
    """Run GEPA with proposals that are better by `step`; return its result."""

    def propose(candidate, dataset, components):
        noise = random.Random(len(adapter.calls)).random() * 1e-6  # another text each time
        return {name: repr(float(candidate[name]) + step + noise) for name in components}

    return gepa.optimize(
        {"prompt": "0.4"},
        TRAIN,
        VALIDATION,
        adapter=adapter,
        custom_candidate_proposer=propose,
        max_metric_calls=calls,
        acceptance_criterion=criterion,
        skip_perfect_score=False,
        logger=SimpleNamespace(log=lambda message: None),
    )


class Watched(RaceAcceptance):
    """Keeps the verdicts on proposals that passed the minibatch."""

    def should_accept(self, proposal, state):
        verdict = super().should_accept(proposal, state)
        if sum(proposal.subsample_scores_after) > sum(proposal.subsample_scores_before):
            self.verdicts = [*getattr(self, "verdicts", []), verdict]
        return verdict


def test_what_is_no_better_passes_the_minibatch_and_seldom_the_race():
    adapter = Adapter()
    criterion = Watched(adapter, TRAIN, seed=1)
    result = optimize(adapter, criterion, 0.0, 4000)
    assert result.total_metric_calls == len(adapter.calls)  # those of races are counted
    assert len(criterion.verdicts) > 30  # GEPA's own criterion accepts all of these
    assert len(result.candidates) - 1 == sum(criterion.verdicts)
    assert sum(criterion.verdicts) < 0.35 * len(criterion.verdicts)


def test_what_is_better_is_accepted():
    adapter = Adapter()
    result = optimize(adapter, RaceAcceptance(adapter, TRAIN, seed=1), 0.25, 700)
    assert len(result.candidates) >= 3
    assert float(result.best_candidate["prompt"]) > 0.8


def proposal(after=(1.0, 1.0, 0.0), text="0.9"):
    return SimpleNamespace(
        candidate={"prompt": text},
        parent_program_ids=[1],
        subsample_indices=[0, 1, 2],
        subsample_scores_before=[0.0, 0.0, 1.0],
        subsample_scores_after=list(after),
    )


def state(parent="0.1"):
    counted = []
    return SimpleNamespace(
        program_candidates=[{"prompt": "0"}, {"prompt": parent}],
        increment_evals=counted.append,
        counted=counted,
    )


def test_the_minibatch_is_a_first_hurdle_that_costs_nothing():
    adapter, now = Adapter(), state()
    assert not RaceAcceptance(adapter, TRAIN).should_accept(proposal(after=(0, 0, 1.0)), now)
    assert not adapter.calls
    assert not now.counted


def test_it_races_against_the_parent_on_items_that_were_not_seen_and_counts_them():
    adapter, now = Adapter(), state()
    criterion = RaceAcceptance(adapter, TRAIN, n_items=60, batch_size=5)
    assert criterion.should_accept(proposal(), now)
    assert {text for text, _ in adapter.calls} == {"0.1", "0.9"}
    items = [item for text, item in adapter.calls if text == "0.1"]
    assert items == [item for text, item in adapter.calls if text == "0.9"]
    assert not set(items) & set(TRAIN[:3])
    assert len(set(items)) == len(items) < 30
    assert now.counted == [10] * (len(items) // 5)
    assert not criterion.should_accept(proposal(text="0.01"), state("0.9"))
    others = [item for text, item in adapter.calls if text == "0.01"]
    assert others != items[: len(others)]


def test_the_same_seed_accepts_the_same():
    calls = []
    for _ in range(2):
        adapter = Adapter()
        RaceAcceptance(adapter, TRAIN, seed=7).should_accept(proposal(), state("0.5"))
        calls.append(adapter.calls)
    assert calls[0] == calls[1]


def test_an_undecided_race_accepts_nothing():
    strict = AnytimeRace(alpha=1e-6)
    assert not RaceAcceptance(Adapter(), TRAIN, decider=strict).should_accept(proposal(), state())
    assert not RaceAcceptance(Adapter(), TRAIN[:3]).should_accept(proposal(), state())


@pytest.mark.parametrize(
    "given",
    [{"trainset": []}, {"n_items": 0}, {"batch_size": 0}, {"decider": "nonsense"}, {"seed": -1}],
)
def test_settings_are_checked(given):
    with pytest.raises(racer.SettingError):
        RaceAcceptance(Adapter(), given.pop("trainset", TRAIN), **given)


@pytest.mark.parametrize("decider", ["best-for-budget", "bayesian-best"])
def test_a_decider_that_keeps_both_is_refused(decider):
    with pytest.raises(racer.SettingError, match="no proposal would be accepted: leave it out"):
        RaceAcceptance(Adapter(), TRAIN, decider=decider)
    with pytest.raises(racer.SettingError, match="on n_items=2 items, so no"):
        RaceAcceptance(Adapter(), TRAIN, n_items=2)
    assert RaceAcceptance(Adapter(), TRAIN, decider="halving").should_accept(proposal(), state())


def test_equal_proposals_seldom_win_a_race_of_means():
    """Taken for all items there are, 32 of them decided by whose mean was larger: half the time."""
    accepted = [
        RaceAcceptance(Adapter(), TRAIN, decider="mean", seed=seed).should_accept(
            proposal(text=f"0.5{seed}1"), state("0.5")
        )
        for seed in range(16)
    ]
    assert sum(accepted) <= 2
    assert RaceAcceptance(Adapter(), TRAIN, decider="mean").should_accept(proposal(), state())


def test_scores_must_be_those_of_the_items():
    adapter = SimpleNamespace(evaluate=lambda *_, **__: SimpleNamespace(scores=[1.0]))
    with pytest.raises(racer.SettingError, match="1 scores of 4 items"):
        RaceAcceptance(adapter, TRAIN).should_accept(proposal(), state())


def test_a_data_loader_gives_its_items():
    class Loader:
        def all_ids(self):
            return [f"id{item}" for item in TRAIN]

        def fetch(self, ids):
            return [int(one.removeprefix("id")) for one in ids]

        def __len__(self):
            return len(TRAIN)

    calls, given = [], proposal()
    given.subsample_indices = [f"id{TRAIN[at]}" for at in given.subsample_indices]
    for trainset, one in ((Loader(), given), (TRAIN, proposal())):
        adapter = Adapter()
        assert RaceAcceptance(adapter, trainset, seed=1).should_accept(one, state())
        calls.append(adapter.calls)
    assert calls[0] == calls[1]


@pytest.mark.parametrize("nan", [float("nan"), None, "good"])
def test_a_score_that_is_no_number_has_failed_and_ends_nothing(nan):
    def adapter(of):
        def evaluate(items, candidate, **_):
            return SimpleNamespace(scores=[of[candidate["prompt"]]] * len(items))

        return SimpleNamespace(evaluate=evaluate)

    now = state()
    assert not RaceAcceptance(adapter({"0.1": 1.0, "0.9": nan}), TRAIN).should_accept(
        proposal(), now
    )
    assert RaceAcceptance(adapter({"0.1": nan, "0.9": 0.0}), TRAIN).should_accept(proposal(), now)
    assert not RaceAcceptance(Adapter(), TRAIN).should_accept(proposal(after=(nan, 1.0)), now)


def test_the_example_of_the_page_runs(capsys):
    class Reflecting(Adapter):
        def evaluate(self, batch, candidate, capture_traces=False):
            return super().evaluate(batch, {"prompt": candidate["prompt"][-3:]}, capture_traces)

    names = {
        "adapter": Reflecting(),
        "trainset": TRAIN,
        "valset": VALIDATION,
        "seed_candidate": {"prompt": "0.3"},
        "reflection_lm": lambda prompt: "```\n0.9\n```",
    }
    assert door_pages.run("RaceAcceptance(", names)["result"].best_candidate == {"prompt": "0.9"}


def test_the_study_compares_both_criteria():
    args = ["--repetitions", "2", "--validation", "20", "--calls", "300", "--mean", "0.1"]
    done = CliRunner().invoke(gepa_acceptance.main, args, catch_exceptions=False)
    rows = [line.split() for line in done.output.splitlines()[-2:]]
    assert [row[0] for row in rows] == ["strict_improvement", "RaceAcceptance"]
    assert all(0.5 < float(row[1]) < 1 for row in rows)
