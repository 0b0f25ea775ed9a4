"""Wrong calls of everything public: one argument at a time has a value that its type rules out."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import itertools
import re
import warnings

import numpy as np

import racer
from racer import Integer, Param, Real, deciders, simulate

NAN, INF, HUGE = float("nan"), float("inf"), 10**400  # no float holds the last
ARRAY, SCORES = np.array([1.0, 2.0]), np.random.default_rng(1).random((12, 3))


class Thing:
    """An object that nothing takes."""


class Evaluated(BaseException):
    """An objective was called."""


BY_TYPE = {  # by annotation, without its None
    "int": [1.5, NAN, "3", True, [1], ARRAY],
    "float": [NAN, HUGE, "0.5", True, [1], {}, ARRAY, 1j],
    "bool": [1, 0, "yes", [1], ARRAY, 0.5],
    "str": [3, True, [1], ARRAY, NAN],
    "Sequence[Any]": [3, True, NAN],
    "Objective": [3, "never", lambda: 1, lambda config: config, dict, ARRAY],
    "Sequence[Callback]": [3, "print", [3], [None]],
    "str | PathLike[str]": [3, True, [1], "", "a\0b"],
    "Runtime | float": [0, -1, "5", True, racer.Runtime],
}
_BY_NAME = {
    "alpha confidence level": [0, 1, -0.1, 1.5],
    "wall timeout seconds spend limit calls_per_minute sigma_scale rho": [0, -1],
    "first_test n_blocks rounds repetitions n_items n_candidates": [0, -(10**9)],
    "strength ignorance margin rope tolerance": [-0.1, INF],
    "correlation epsilon": [-0.1, 1, INF],
    "draws flips": [0, 99],
    "seed": [-1],
    "prior": [0, -1, "x", [1.0, NAN]],
    "budget": [0, racer.Budget, "60", [], {"evaluations": 60}],
    "scores x y table p_values vector": [3, [["a", "b"]], [[1, 2], [3]], {1, 2}, NAN, [[1j, 2.0]]],
    "candidates": [[], "", [1, 1], {1, 2}],
    "space parameters": [3, {3: Real(0, 1)}, {"x": Real}, "x"],
    "decider": ["f-rase", "", deciders.FRace, [deciders.FRace()]],
    "metrics": ["score", ["score"], {}, {"score": "up"}, {3: "min"}],
    "goal": [
        "down",
        "",
        {},
        {"score": "up"},
        {3: "min"},
        3,
        True,
        racer.Pareto,
        racer.Pareto("a", "b"),
    ],
    "groups held_out items": ["abc", [], 3],
    "block_size min_survivors": [0, 1.5],
    "each_test": [0, "growign"],
    "objective": ["score", racer.Pareto("a", "b"), racer.Pareto],
    "choices levels": [[], ["a", "a"], [1, 1.0], [NAN]],
    "conditions": [[Param("x") > 0.5], {"y": 3}, {"z": Param("x") > 0.5}, {"x": "x > 1"}],
    "outcomes": [[1], [0.5, 1], "x"],
    "used": ["x", NAN, -1, [1, 2]],
    "prior_ranks": [3, [1.0], "x", [0, 3, 3], [1, 2, NAN]],
    "source target": [99, -1, "worst", {"x": 2}, 1.5],
    "argv": ["", [], ["./x", None], "'", "a\0b"],
}
BY_NAME = {name: values for names, values in _BY_NAME.items() for name in names.split()}
_CALLED = {  # what a message may call an argument instead
    "choices levels low high log step digits": r"\bp\b",
    "candidates instances test_instances": "candidate|instance",
    "space parameters text data config": r"param|give text|is a class|JSON|\bx\b",
    "scores x y table p_values vector": "scores|samples|p-values|data",
    "evaluate direction metric goal": "objective|[Mm]etric",
    "n_jobs argv spend": "jobs|command|money",
    "store of path forbidden": "file|path|store|tun",
    "conditions": "condition",
}
CALLED = {name: called for names, called in _CALLED.items() for name in names.split()}
MODULES = ("racer", "racer.stats", "racer.deciders", "racer.simulate", "racer.integrations.optuna")
OF_SPACES = ("from_json", "from_irace", "read_irace", "read_configspace")
REST = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
SKIPPED = ("read_scores", "finish", "Scheduled", "Power")  # of files, a trial, abstract, a result
OF_RULES = {"Race": {"budget": 90}, "Tuner": {"budget": 90}, "compare": {"goal": "min"}}
OF_RULES["gate"] = {"goal": "max"}
GIVEN = ("budget", "instances", "source", "blocks")  # though they have a default


def never(config, instance, seed):
    """Objective of a call that is refused."""
    raise Evaluated


async def never_async(config, instance, seed):
    """Objective of a call that is refused."""
    never(config, instance, seed)


def values(parameter):
    """Yield values that a parameter cannot have."""
    kind = str(parameter.annotation).removesuffix(" | None")
    yield from (Thing(), *BY_TYPE.get(kind, ()), *BY_NAME.get(parameter.name, ()))
    if isinstance(parameter.default, str):
        yield from ("nonesuch", "", [1], ARRAY)
    if kind == parameter.annotation and kind in BY_TYPE and parameter.name != "seed":
        yield None


def named(make):
    """Return a call that gives a parameter the name "p" in a space."""

    @functools.wraps(make)
    def call(**given):
        return racer.Space({"p": make(**given)})

    return call


def targets(folder):
    """Yield what is public by name, and arguments by name with which it works."""
    space, run = racer.Space({"x": Real(0, 1), "y": Integer(1, 5)}), folder / "run.db"
    racer.race([1, 2, 3], lambda x, _, seed: x + seed % 7, range(8), budget=30, seed=1, store=run)
    of = racer.tune(space, lambda c, *_: float(c["x"]), [1, 2, 3], budget=60, seed=1)
    given = {"candidates": [1, 2, 3], "space": space, "evaluate": never, "store": run, "of": of}
    given |= {"Throttled.evaluate": never_async, "calls_per_minute": 60, "budget": 90, "limit": 5.0}
    given |= {"RacingPruner.instances": 8, "instances": range(8), "source": {"x": 0.0, "y": 1}}
    given |= {"scores": SCORES, "samples": [*SCORES.T[:2]], "table": SCORES, "x": SCORES[:, 0]}
    given |= {"y": SCORES[:, 1], "p_values": [0.1, 0.2, 0.3], "n_candidates": 3, "n_blocks": 12}
    given |= {"front_posterior.scores": np.stack([SCORES, SCORES[::-1]], axis=2), "blocks": 10}
    given |= {"hierarchical_t_test.x": SCORES, "hierarchical_t_test.y": SCORES[::-1], "n": 2}
    given |= {"best_posterior.instances": range(12), "outcomes": [1, 0, 1, 1], "used": 100}
    given["expected_running_time.evaluations"] = SCORES
    given |= {"plackett_luce_by_budget.scores": {1.0: SCORES, 2.0: SCORES}, "correlation": 0.1}
    given |= {"decider": "f-race", "world": simulate.NormalWorld(3, 0.5), "q": 3, "rho": 0.5}
    given |= {"name": "p", "argv": ["true", "{instance}"], "text": 'x "" r (0, 1)'}
    given |= {"choices": "ab", "levels": "ab", "low": 1, "high": 9, "data": space.to_json()}
    given |= {"parameters": {"x": Real(0, 1)}, "path": folder / "space.txt", "config": of.best}
    given |= {"programs": dict.fromkeys("ab", lambda instance: 1), "vector": [0.5, 0.5]}
    given |= {"duel.players": ["p", "q"], "judge": lambda *_: "tie", "mean_sequence.x": [2.0, 3.0]}
    given |= {"baseline": {"a": 1.0, "b": 0.0}, "gate.evaluate": lambda item: 1.0, "margin": 0.1}
    given |= {"plan.candidates": 3, "effect": 1.0, "noise": 1.0, "difference_sequence.x": [2.0]}
    given |= {"difference_sequence.y": [3.0], "submit": len, "collect": len, "size": 2}
    given["path"].write_text(given["text"])
    public = {}
    for name in MODULES:
        with contextlib.suppress(ImportError):  # an extra
            module = importlib.import_module(name)
            public |= {each: getattr(module, each) for each in module.__all__}
    if "race_study" in public:
        import optuna

        given["study"] = optuna.create_study()
        given["suggest"] = {"x": optuna.distributions.FloatDistribution(0, 1)}
    public |= {f"Space.{name}": getattr(racer.Space, name) for name in OF_SPACES}
    public |= {f"Space.{name}": getattr(space, name) for name in ("sample", "encode", "decode")}
    for name in ("Real", "Integer", "Categorical", "Ordinal"):
        public[name] = named(public[name])
    for name, call in public.items():
        is_class = inspect.isclass(call)
        if name in SKIPPED or not callable(call) or (is_class and issubclass(call, BaseException)):
            continue
        parameters = [p for p in inspect.signature(call).parameters.values() if p.kind not in REST]
        needed = {p.name for p in parameters if p.default is p.empty or p.name in GIVEN}
        base = {key: given.get(f"{name}.{key}", given.get(key)) for key in needed}
        if all(value is not None for value in base.values()):
            yield name, call, {**base, **OF_RULES.get(name, {})}, parameters
        elif not is_class:  # a class of results, which nobody makes
            raise AssertionError(f"{name} is new: give what it needs of {sorted(needed)}")


def faults(folder, step):
    """Yield of each step-th wrong call None if it is refused by its argument's name, or its fault."""
    made = (
        (name, call, base, parameter, value)
        for name, call, base, parameters in targets(folder)
        for parameter in parameters
        for value in values(parameter)
    )
    for name, call, base, parameter, value in itertools.islice(made, 0, None, step):
        key = parameter.name
        names = f"{key}|{CALLED.get(key, key)}"
        if isinstance(value, str) and value == "nonesuch":  # what there is, is said
            names = f"(?s)({names}).*{re.escape(parameter.default)}"
        fault = judged(call, {**base, key: value}, names)
        yield fault and (name, key, f"{value!r:.60}", fault)


def judged(call, given, names):
    """Return what is wrong with the answer to a wrong call, or None."""
    try:
        with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
            found = call(**given)
    except racer.RacerError as error:
        return None if re.search(names, str(error), re.IGNORECASE) else f"unnamed: {error}"
    except BaseException as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"
    return f"accepted: {found!r:.80}"
