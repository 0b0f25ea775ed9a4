"""The API as a user would write it: checked by mypy, and run by the tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypedDict, assert_type

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

import racer
from racer import Budget, Cell, Ended, Outcome, Race, RaceResult, TuneResult
from racer.deciders import BayesianFriedman, Blocks, Decider, FRace, Setting, TRace, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Config(TypedDict):
    """A configuration with known keys."""

    x: float
    kind: str


@dataclass(frozen=True)
class Instance:
    """Something to evaluate on."""

    shift: float


def evaluate(config: Config, instance: Instance, seed: int) -> float:
    """Return a cost."""
    rng = np.random.default_rng(seed)
    return abs(config["x"] - 1.0) + instance.shift + 0.01 * float(rng.normal())


POOL: list[Config] = [{"x": 0.5 * i, "kind": "a"} for i in range(6)]
INSTANCES = (Instance(0.0), Instance(3.0))


def races() -> RaceResult:
    """Race in one call."""
    result = racer.race(POOL, evaluate, INSTANCES, budget=300, seed=1)
    assert_type(result, RaceResult)
    racer.race(
        POOL,
        evaluate,
        racer.Instances(INSTANCES, deterministic=True),
        decider=FRace(
            posthoc="sign",
            alpha=0.01,
            correction="holm",
            first_test=2,
            each_test=1,
            min_survivors=2,
        ),
        budget=Budget(evaluations=200, seconds=60.0),
        goal="max",
        n_jobs=1,
        seed=None,
        limits=racer.Limits(retries=1),
        progress=False,
        callbacks=[watch],
    )
    racer.race(range(3), lambda config, instance, seed: config, budget=30)
    racer.race(np.linspace(0.0, 1.0, 3).tolist(), lambda *cell: 0.0, None, budget=15)
    return result


def resumes(store: Path) -> RaceResult:
    """Record a race, and go on with it."""
    racer.race(POOL, evaluate, INSTANCES, budget=30, seed=1, store=store)
    try:
        result = racer.resume(str(store), evaluate, instances=INSTANCES, budget=60)
    except racer.StoreError as error:
        raise SystemExit(str(error)) from None
    assert_type(result, RaceResult | TuneResult)
    if isinstance(result, TuneResult):
        raise SystemExit("a race should stay one")
    return result


def watch(event: racer.BlockCompleted | racer.RaceEnded) -> None:
    """Look at what a race says."""
    if isinstance(event, racer.RaceEnded):
        assert_type(event.ended, Ended)
    else:
        assert_type(event.best_mean, float | None)
        assert_type(event.alive, tuple[int, ...])
    for elimination in event.eliminated:
        assert_type(elimination, racer.Elimination)
        assert_type(elimination.probability, float)


def reads(result: RaceResult) -> None:
    """Read a result."""
    best: Config | None = result.best
    config: Config = result.config(0)
    if best is None or result.ended is Ended.ALL_FAILED or config["kind"] != "a":
        raise SystemExit("no winner")


def asks_and_tells() -> RaceResult:
    """Drive a race by hand."""
    race = Race([1.0, 2.0], INSTANCES, decider="t-race", budget=40, seed=0)
    assert_type(race.ended, Ended | None)
    while cells := race.ask():
        assert_type(cells, tuple[Cell, ...])
        for cell in cells:
            outcome = Outcome("ok", cell.config + cell.seed / 7, seconds=0.1)
            assert_type(cell.seed, int)
            race.tell(cell, outcome)
    return race.result()


class Never(Decider):
    """A decider of one's own, which drops nobody."""

    def start(self, setting: Setting) -> NDArray[np.float64]:
        """Return the sums of costs."""
        return np.zeros(setting.n_candidates)

    def decide(
        self, state: NDArray[np.float64], blocks: Blocks
    ) -> tuple[NDArray[np.float64], Verdict]:
        """Add up the costs."""
        state = state + blocks.costs.sum(axis=0)
        best = int(blocks.candidates[state.argmin()])
        return state, Verdict((), best, state, {"gate": "none"})


def decides() -> Sequence[Decider]:
    """Make deciders."""
    mine: Decider = Never()
    result = racer.race([2, 1], lambda config, instance, seed: config, decider=mine, budget=12)
    if result.best != 1:
        raise SystemExit("the smaller one should lead")
    return [mine, BayesianFriedman(confidence=0.9, epsilon=0.0), TRace(), FRace()]


def compares(scores: Any) -> float:
    """Use the statistics alone."""
    test = racer.stats.bayesian_friedman_test(scores, maximize=True)
    assert_type(test.rejected, bool)
    frame = pd.DataFrame(scores, columns=list("abc"))
    found = racer.compare(frame, "friedman", posthoc="conover", control="a", goal="max")
    assert_type(found, racer.Comparison)
    assert_type(found.pairs, pd.DataFrame)
    assert_type(found.prose(), str)
    racer.compare(scores, method="auto", alpha=0.1, goal="min")
    assert_type(found.plot(), Axes)
    racer.plots.simplex([[0.2, 0.3, 0.5]], ["a", "b", "c"])
    return test.tail_probability


def spaces() -> dict[str, Any]:
    """Say what may be tuned, and draw from it."""
    n = racer.Param("n")
    space = racer.Space(
        {
            "kind": racer.Categorical(["a", "b"]),
            "n": racer.Integer(1, 100, log=True),
            "m": racer.Integer(1, racer.space.least(2 * n, 50)),
            "x": racer.Real(0, round(n / 2), digits=3),
            "heat": racer.Ordinal(("low", "high")),
            "version": 3,
        },
        conditions={"m": {"kind": ["a"]}, "x": (n > 3) & ~(racer.Param("heat") == "low")},
        forbidden=[{"kind": "b", "n": 7}, n % 2 == 1],
        repair=lambda config: config,
    )
    assert_type(space.sample(5, seed=1, method="lhs"), list[dict[str, Any]])
    assert_type(space.size, float)
    (config,) = space.sample(1, seed=2)
    space.sample(3, seed=3, exclude={space.key(config)}, known=[config])
    again = racer.Space.from_json(space.to_json(), repair=space.repair)
    assert_type(again, racer.Space)
    try:
        racer.Space.from_irace('n "" i (1, 9')
    except racer.SpaceFileError as error:
        assert_type(error.line, int | None)
    return again.decode(space.encode(config))


SPACE = racer.Space({"x": racer.Real(0, 2), "kind": racer.Categorical(["a", "b"])})


def tunes(store: Path) -> TuneResult:
    """Tune in one call, and go on with what was recorded."""
    result = racer.tune(SPACE, evaluate, INSTANCES, budget=120, seed=1, store=store)
    assert_type(result, TuneResult)
    again = racer.resume(store, evaluate, instances=INSTANCES, budget=150)
    if not isinstance(again, TuneResult):
        raise SystemExit("a run of races should stay one")
    racer.tune(
        SPACE,
        evaluate,
        racer.Instances(INSTANCES, order="given", held_out=[Instance(1.0)], deterministic=True),
        budget=Budget(evaluations=120, seconds=60.0),
        decider=FRace(first_test=2, each_test=1),
        initial=[{"x": 1.0, "kind": "a"}],
        goal="max",
        n_jobs=1,
        seed=None,
        search=racer.Search(elites=2),
        limits=racer.Limits(retries=1),
        progress=False,
        callbacks=[watches],
    )
    racer.tune(SPACE, lambda config, instance, seed: float(config["x"]), budget=84)
    return again


def watches(event: object) -> None:
    """Look at what a run of races says."""
    if isinstance(event, racer.tuner.RaceCompleted):
        assert_type(event.elites, tuple[int, ...])
        assert_type(event.left, int | None)
    elif isinstance(event, racer.tuner.CandidatesAdded):
        assert_type(event.configs, tuple[dict[str, Any], ...])
        assert_type(event.parents, tuple[int | None, ...])


def reads_tuned(result: TuneResult) -> None:
    """Read the result of a run of races."""
    assert_type(result.best, dict[str, Any] | None)


def benches() -> racer.BenchResult:
    """Compare functions, and commands."""
    return racer.bench(["true", ["printf", "{seed}"]], rounds=2, seed=1)


def main() -> None:
    """Do all of it."""
    reads(races())
    with TemporaryDirectory() as folder:
        resumes(Path(folder) / "run.db")
        reads_tuned(tunes(Path(folder) / "tune.db"))
    asks_and_tells()
    decides()
    spaces()
    benches()
    compares(np.arange(12.0).reshape(4, 3))


if __name__ == "__main__":
    main()
