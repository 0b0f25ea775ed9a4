"""`check_decider` accepts every decider of racer, and says what is wrong with a broken one."""

import threading
import warnings
from dataclasses import replace

import numpy as np
import pytest
from playing import ONE_NUMBER, short

from racer.deciders import (
    AnytimeRace,
    BayesianBest,
    BayesianFriedman,
    Decider,
    Drop,
    FRace,
    SequentialHalving,
    SignedRankRace,
    TRace,
    Verdict,
)
from racer.deciders.parts.wrappers import protected
from racer.testing import check_decider

EAGER = BayesianFriedman(gate=False)
OTHERS = [
    AnytimeRace(familywise=True),
    BayesianBest(by="mean"),
    EAGER,
    FRace(posthoc="sign", gate=False),
    SequentialHalving(by="mean-rank"),
    SignedRankRace(gate=False),
    TRace(correction="holm"),
    protected(FRace(), (7,) * 40),
]


class DropWorst(Decider):
    """Drops the candidate with the worst total: a decider without a fault."""

    level = 1.0

    def start(self, setting):
        return np.zeros(setting.n_candidates)

    def decide(self, totals, blocks):
        totals[blocks.candidates] += np.where(np.isinf(blocks.costs), 1e9, blocks.costs).sum(axis=0)
        return totals, self.verdict(blocks, totals[blocks.candidates])

    def verdict(self, blocks, standing):
        worst, best = (int(blocks.candidates[f(standing)]) for f in (np.argmax, np.argmin))
        drop = Drop(
            worst, "worst in total", against=best, probability=self.level, measure="certainty"
        )
        return (
            Verdict((drop,), best, standing, {}) if worst != best else Verdict((), None, standing)
        )


class NamesABestOfEquals(DropWorst):
    def verdict(self, blocks, standing):
        given = super().verdict(blocks, standing)
        return replace(given, best=int(blocks.candidates[standing.argmin()]))


class NeedsABudget(DropWorst):
    def start(self, setting):
        return np.zeros(setting.n_candidates + 0 * setting.budget * setting.n_blocks)


@pytest.mark.parametrize(
    "decider",
    [
        *ONE_NUMBER,
        *(pytest.param(one, marks=[pytest.mark.thorough] * (one == EAGER)) for one in OTHERS),
        *(DropWorst(), NeedsABudget()),
    ],
    ids=short,
)
def test_a_decider_without_a_fault_passes(decider):
    check_decider(decider)


class NumbersByPosition(DropWorst):
    """Takes positions in `Blocks.candidates` for candidates: right until the first has left."""

    def verdict(self, blocks, standing):
        worst, best = int(np.argmax(standing)), int(np.argmin(standing))
        drop = (
            (Drop(worst, "worst", against=best, probability=0.5, measure="p-value"),)
            if worst != best
            else ()
        )
        return Verdict(drop, int(blocks.candidates[best]) if drop else None, standing, {})


class NamesTheBestByPosition(DropWorst):
    def decide(self, totals, blocks):
        totals, verdict = super().decide(totals, blocks)
        if verdict.best is not None:
            verdict = replace(verdict, best=int(np.argmin(verdict.standing)))
        return totals, verdict


class TakesFailuresAsNumbers(DropWorst):
    def decide(self, totals, blocks):
        costs = blocks.costs.sum(axis=0)
        totals[blocks.candidates] += costs - costs.mean()
        return totals, self.verdict(blocks, totals[blocks.candidates])


class KeepsItsStateOnItself(DropWorst):
    def start(self, setting):
        self.totals = np.zeros(setting.n_candidates)

    def decide(self, state, blocks):
        _, verdict = super().decide(self.totals, blocks)
        return None, verdict


class CountsRaces(DropWorst):
    def __init__(self):
        self.seen = {"races": 0}

    def start(self, setting):
        self.seen["races"] += 1
        return super().start(setting)


class DrawsFromNowhere(DropWorst):
    def verdict(self, blocks, standing):
        return super().verdict(blocks, standing + 1e-9 * np.random.default_rng().random())


class WritesToTheBlocks(DropWorst):
    def decide(self, totals, blocks):
        blocks.costs[np.isinf(blocks.costs)] = 1e9
        return super().decide(totals, blocks)


class HoldsALock(DropWorst):
    def __init__(self):
        self.lock = threading.Lock()


class Warns(DropWorst):
    def verdict(self, blocks, standing):
        if len(standing) == 2:
            warnings.warn("only two are left", UserWarning, stacklevel=2)
        return super().verdict(blocks, standing)


class NeedsTwoBlocks(DropWorst):
    def decide(self, totals, blocks):
        if len(blocks.costs) == 1 and not totals.any():
            raise ZeroDivisionError
        return super().decide(totals, blocks)


class MisspellsCapped(DropWorst):
    takes_caped = True


@pytest.mark.parametrize(
    ("decider", "table", "problem"),
    [
        (
            NamesTheBestByPosition(),
            "the first leave, the last is best",
            "is not among the candidates",
        ),
        (NamesABestOfEquals(), "all tied", "all candidates tie, but best=0: it is None then"),
        (NumbersByPosition(), "many ties", "eliminated already"),
        (TakesFailuresAsNumbers(), "failed cells (+inf)", "`standing` has a NaN"),
        (KeepsItsStateOnItself(), "a clear winner", "while another race is under way"),
        (CountsRaces(), "a clear winner", "its attributes are others afterwards"),
        (DrawsFromNowhere(), "a clear winner", "other verdicts a second time"),
        (WritesToTheBlocks(), "a clear winner", "read-only"),
        (HoldsALock(), None, "cannot be copied and pickled"),
        (Warns(), "a clear winner", "it gives a warning: UserWarning('only two are left')"),
        (NeedsTwoBlocks(), "one block", "it raises ZeroDivisionError()"),
        (MisspellsCapped(), None, "did you mean 'takes_capped'?"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_wrong_is_said_with_the_table(decider, table, problem):
    with pytest.raises(AssertionError) as found:
        check_decider(decider)
    message = str(found.value)
    if table is not None:
        assert f"{type(decider).__name__} on the table {table!r}" in message
    assert problem in message


def test_errors_of_the_decider_are_kept_as_the_cause():
    with pytest.raises(AssertionError) as found:
        check_decider(NeedsTwoBlocks())
    assert isinstance(found.value.__cause__, ZeroDivisionError)


def test_warnings_elsewhere_are_as_they_were():
    before = list(warnings.filters)
    check_decider(DropWorst())
    assert warnings.filters == before
