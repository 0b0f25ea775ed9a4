"""A scenario tried: a few evaluations, and a report on them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from racer._checks import counted
from racer.core.arguments import Instances
from racer.core.budget import Budget
from racer.evaluate.command.command import Command
from racer.evaluate.command.remedy import remedy
from racer.evaluate.outcome import Cell
from racer.evaluate.workers import Workers, outcomes_of, workers_for
from racer.run.deadline import budget_within
from racer.seeding import seed_for
from racer.tuner.tuner import Tuner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from racer.evaluate.outcome import Outcome
    from racer.scenario.scenario import Scenario

_NOT_THE_TUNERS = {"n_jobs", "store", "space", "evaluate", "instances", "limits"}


def tried(scenario: Scenario) -> Iterator[tuple[str, bool]]:
    """Yield the report, line by line, each with "is a failure"; RacerError if invalid."""
    given = scenario.arguments()
    space, evaluate = given["space"], given["evaluate"]
    on = Instances.of(given["instances"])
    instances, held_out = on.items, on.held_out
    budget, wall, _ = Budget.parted(given["budget"])
    budget = budget or budget_within(wall, Workers(given["n_jobs"]))
    rules = {n: v for n, v in given.items() if n not in _NOT_THE_TUNERS}
    tuner = Tuner(space, on, **rules | {"budget": budget})
    initial = tuner.settings["initial"]
    named = counted(len(space.free), "parameter"), counted(len(instances or ()), "instance")
    yield ", ".join(named), False
    if missing := scenario.missing_instances():
        yield f"note: instances that are not files: {len(missing)}, such as {missing[0]!r}", False
    if space.default is None:
        note = "there is no default: give the configuration in use now (default = .., or --default"
        yield f"note: {note} FILE, a table of one) to see the improvement over it", False
    elif not held_out:
        yield "note: without held_out the default is not compared on held-out instances", False
    yield f"the least budget is {tuner.least_budget} evaluations", False
    configs = [*initial, *space.sample(2, seed=tuner.seed)]
    runtime = tuner.rules.runtime
    bound = None if runtime is None else runtime.limit
    metrics = tuner.rules.metric_names
    first = instances[0] if instances else None
    seed = seed_for(tuner.seed, "trial")
    workers = workers_for(
        evaluate,
        configs,
        (*(instances or ()), *(held_out or ())),
        n_jobs=1,
        limits=given.get("limits"),
        parameters=tuple(space.parameters),
        timed=bound is not None,
    )
    messages = []
    with workers:
        for number, config in enumerate(configs):
            cell = Cell(
                0, number, config, first, seed, instance_index=0, bound=bound, metrics=metrics
            )
            ((_, outcome),) = outcomes_of(workers, [cell])
            name = "initial" if number < len(initial) else "random"
            name = "default" if config == space.default else name
            line = shlex.join(evaluate.argv_of(cell)) if isinstance(evaluate, Command) else config
            yield f"{name} configuration {number + 1}: {line}", False
            if is_failure := outcome.status not in {"ok", "rejected", "capped"}:
                messages.append(outcome.message)
            yield f"  {_text(outcome)}", is_failure
    if len(messages) == len(configs) and (advice := remedy(messages, is_timed=bound is not None)):
        yield f"note: {advice}", False


def _text(outcome: Outcome) -> Any:
    if outcome.status == "ok":
        cost = f"cost {outcome.value:.6g}" if outcome.metrics is None else outcome.metrics
        return f"{cost}, in {outcome.seconds:.3g} s"
    return f"{outcome.status.upper()}, in {outcome.seconds:.3g} s: {outcome.message}"
