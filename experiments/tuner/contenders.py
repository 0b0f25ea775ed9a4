"""Ways to spend a budget of evaluations on a problem."""

from __future__ import annotations

import resource
import shutil
import time
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

import racer
from racer.seeding import block_seed, rng_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from experiments.tuner.problem import Draw, Problem
    from racer import TuneResult
    from racer.space.domains import Domain

    Config = Mapping[str, Any]
    Contender = Callable[[Problem, int, int], Config]

__all__ = ["CONTENDERS", "available", "overhead", "peak"]

PER_TRIAL = 5  # instances, for those that average over some
PER_CANDIDATE = 12  # evaluations, on average, of random candidates in a race
_LEAST = 600  # evaluations of a short run of irace


def _tuned(problem: Problem, budget: int, seed: int, **settings: Any) -> TuneResult:
    return racer.tune(
        problem.space,
        problem,
        racer.Instances(range(problem.tuning), deterministic=problem.deterministic),
        budget=budget,
        seed=seed,
        **settings,
    )


def by_racer(problem: Problem, budget: int, seed: int, **settings: Any) -> Config:
    """Tune with racer; the first elite where nothing speaks for any."""
    result = _tuned(problem, budget, seed, **settings)
    return result.configs[(result.survivors or (0,))[0]] if result.best is None else result.best


def by_halving(problem: Problem, budget: int, seed: int) -> Config:
    """Race random configurations, halving."""
    per_candidate = min(PER_CANDIDATE, problem.tuning)
    result = racer.race(
        problem.space.sample(budget // per_candidate, seed=seed),
        problem,
        racer.Instances(range(problem.tuning), deterministic=problem.deterministic),
        decider="halving",
        budget=budget,
        seed=seed,
    )
    if result.best is not None:
        return dict(result.best)
    return dict(result.configs[result.survivors[0]])


def by_random(problem: Problem, budget: int, seed: int) -> Config:
    """Return the best of random configurations by the mean over the same few instances."""
    per_trial = min(PER_TRIAL, problem.tuning)
    order = rng_for(seed, "rotation").permutation(problem.tuning).tolist()

    def mean(config: Config) -> float:
        try:
            costs = [problem(config, order[b], block_seed(seed, b)) for b in range(per_trial)]
        except ArithmeticError:
            return np.inf
        return float(np.mean(costs))

    configs = problem.space.sample(budget // per_trial, seed=seed)
    return configs[int(np.argmin([mean(config) for config in configs]))]


def by_tpe(problem: Problem, budget: int, seed: int, per_trial: int = PER_TRIAL) -> Config:
    """Optuna's TPE, a trial being the mean over the same few instances."""
    import optuna  # noqa: PLC0415  (an extra)

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    order = rng_for(seed, "rotation").permutation(problem.tuning).tolist()
    distributions = problem.space.to_optuna()
    per_trial = min(per_trial, problem.tuning)
    configs = []
    for _ in range(budget // per_trial):
        trial = study.ask()

        def suggested(name: str, _: Domain, trial: Any = trial) -> Any:
            return trial._suggest(name, distributions[name])  # noqa: SLF001  (any distribution)

        config = problem.space.build(suggested)
        if config is None:
            raise RuntimeError("a parameter has no value")
        configs.append(config)
        try:
            values = [
                problem(config, order[block % problem.tuning], block_seed(seed, block))
                for block in range(per_trial)
            ]
        except ArithmeticError:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, float(np.mean(values)))
    return configs[study.best_trial.number]


def by_irace(problem: Problem, budget: int, seed: int) -> Config:
    """Debian's irace 3.5, in a process of R that asks for each evaluation."""
    from experiments.tuner.irace import tuned  # noqa: PLC0415

    return tuned(
        problem.space,
        lambda config, instance, seed, _: problem(config, instance, seed),
        instances=problem.tuning,
        maxExperiments=budget,
        seed=1 + seed,
        digits=8,
        deterministic=str(problem.deterministic).upper(),
    )


def by_less(settings: Mapping[str, Any], problem: Problem, budget: int, seed: int) -> Config:
    """Tune with racer without a mechanism: with these values of its module settings."""
    with ExitStack() as stack:
        for name, value in settings.items():
            stack.enter_context(patch(f"racer.tuner.{name}", value))
        return by_racer(problem, budget, seed)


WITHOUT: dict[str, dict[str, Any]] = {  # an ablation: the same tunings with one mechanism off
    "crossing": {"drafts._CROSSED": 0.0},
    "exploring": {"drafts._EXPLORING": 0.0},
    "ends": {"proposals.NEAR_ENDS": None},
    "branches": {"branches._SHARE": 0.0},
    "pace": {"tuning._LARGE": 10**9},
}
CONTENDERS: dict[str, Contender] = {
    "racer": by_racer,
    "tpe": by_tpe,
    "tpe-2": partial(by_tpe, per_trial=2),  # better with the smallest budgets
    "halving": by_halving,
    "random": by_random,
    "friedman": partial(by_racer, decider="bayesian-friedman"),
    "irace": by_irace,
    **{f"no-{name}": partial(by_less, settings) for name, settings in WITHOUT.items()},
}


def available(name: str) -> bool:
    """Say whether what a contender needs is installed."""
    return name != "irace" or shutil.which("Rscript") is not None


def overhead(
    problem: Problem, budget: int, seed: int, contender: Callable[[Problem, int, int], Any] = _tuned
) -> float:
    """Return the CPU time of a contender per evaluation, without that of the objective; in us.

    Nor of the clock, whose readings take long on some machines: about one for each evaluation.
    """
    inside = 0.0

    def timed(config: Config, instance: int, seed: int) -> float:
        nonlocal inside
        start = time.process_time()
        value = problem(config, instance, seed)
        inside += time.process_time() - start
        return value

    start = time.process_time()
    contender(replace(problem, cost=timed), budget, seed)
    end = time.process_time()
    for _ in range(budget):
        time.process_time()
    clock = time.process_time() - end
    return (end - start - inside - clock) / budget * 1e6


def peak(draw: Draw, budget: int, seed: int, name: str = "racer") -> tuple[float, float]:
    """Return `overhead`, and the peak of this process's resident memory in MB; Linux only.

    Of a process that has done nothing else, and imports no other problem. irace's are those of its
    own process, R, without the CPU time that a short run takes, in which R starts and loads irace;
    Python's end of the socket is left out.
    """
    if name == "irace":
        first = _by_child(draw(seed), _LEAST, seed)
        each = (_by_child(draw(seed), budget, seed) - first) / (budget - _LEAST) * 1e6
        return each, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    contender = _tuned if name == "racer" else CONTENDERS[name]
    overhead(draw(seed), 700, seed, contender)  # loads the modules that are imported late
    each = overhead(draw(seed), budget, seed, contender)
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return each, int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _by_child(problem: Problem, budget: int, seed: int) -> float:
    """Return the CPU seconds of the process in which irace runs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    by_irace(problem, budget, seed)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
