"""Every option of irace: the setting that it becomes, or why it is ignored or refused."""

from __future__ import annotations

import math
import re
import shlex
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from racer._checks import did_you_mean
from racer.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_NO_VALUE = (None, "")
_SCHEDULE = "racer plans its races by the budget itself"
_CAPPING = "racer has one cap for all configurations of a block, from the first test on"
_OWN_LOG = "racer continues from its own store: run the same command again"


@dataclass(frozen=True)
class Option:
    """An option of irace: its flag, the setting that it becomes, or the note instead.

    `neutral` are values, beside none, that need no note or refusal.
    """

    flag: str
    becomes: str = ""
    ignored: str = ""
    refused: str = ""
    neutral: tuple[Any, ...] = (0,)


OPTIONS: Mapping[str, Option] = {
    # files
    "scenarioFile": Option("scenario", becomes="the argument of racer tune"),
    "execDir": Option("exec-dir", becomes="cwd"),
    "parameterFile": Option("parameter-file", becomes="space"),
    "parameterText": Option("parameter-text", refused="write the parameters into a file"),
    "forbiddenFile": Option("forbidden-file", becomes="forbidden"),
    "configurationsFile": Option("configurations-file", becomes="initial"),
    "configurationsText": Option("", refused="write the configurations into a file"),
    "logFile": Option("log-file", becomes="store"),
    "recoveryFile": Option("recovery-file", ignored=_OWN_LOG),
    # instances
    "trainInstancesDir": Option("train-instances-dir", becomes="instances"),
    "trainInstancesFile": Option("train-instances-file", becomes="instances"),
    "trainInstancesText": Option("train-instances-text", refused="write them into a file"),
    "sampleInstances": Option("sample-instances", becomes="order"),
    "testInstancesDir": Option("test-instances-dir", becomes="held_out"),
    "testInstancesFile": Option("test-instances-file", becomes="held_out"),
    "testInstancesText": Option("test-instances-text", refused="write them into a file"),
    "testNbElites": Option("test-num-elites", becomes="test_elites"),
    "testIterationElites": Option(
        "test-iteration-elites", ignored="held-out instances are used once, at the end"
    ),
    # the runner
    "targetRunner": Option("target-runner", becomes="command"),
    "targetRunnerLauncher": Option("target-runner-launcher", becomes="command"),
    "targetRunnerLauncherArgs": Option("target-runner-args", becomes="command"),
    "targetCmdline": Option("target-cmdline", becomes="command"),
    "targetRunnerRetries": Option("target-runner-retries", becomes="retries"),
    "targetRunnerTimeout": Option("target-runner-timeout", becomes="timeout"),
    "targetRunnerData": Option("", refused="a runner is a program: pass it files"),
    "targetRunnerParallel": Option(
        "", refused="it is a function of R: use racer.tune(.., n_jobs=executor) in Python"
    ),
    "targetEvaluator": Option(
        "target-evaluator",
        refused="costs must not depend on other configurations: let the runner print the cost",
    ),
    "repairConfiguration": Option(
        "", refused="it is a function of R: use racer.Space(.., repair=) in Python"
    ),
    "aclib": Option("aclib", becomes="protocol"),
    # the budget
    "maxExperiments": Option("max-experiments", becomes="budget"),
    "minExperiments": Option("min-experiments", ignored=_SCHEDULE),
    "maxTime": Option("max-time", becomes="seconds"),
    "budgetEstimation": Option("budget-estimation", ignored=_SCHEDULE),
    "minMeasurableTime": Option("min-measurable-time", ignored="racer measures time itself"),
    # elimination
    "testType": Option("test-type", becomes="decider"),
    "firstTest": Option("first-test", becomes="first_test"),
    "eachTest": Option("each-test", becomes="each_test"),
    "blockSize": Option("block-size", becomes="block_size"),
    "confidence": Option(
        "confidence",
        ignored="use racer.tune(.., decider=racer.deciders.FRace(alpha=..)) in Python",
        neutral=(0.95,),
    ),
    "minNbSurvival": Option("min-survival", becomes="elites"),
    "deterministic": Option("deterministic", becomes="deterministic"),
    # running
    "parallel": Option("parallel", becomes="n_jobs"),
    "loadBalancing": Option("load-balancing", ignored="cells are always balanced", neutral=(1,)),
    "mpi": Option("mpi", refused="use racer.tune(.., n_jobs=client), as of Dask, in Python"),
    "batchmode": Option(
        "batchmode", refused="use racer.tune(.., n_jobs=client), as of Dask, in Python"
    ),
    "seed": Option("seed", becomes="seed"),
    "digits": Option("digits", becomes="digits"),
    "quiet": Option("quiet", ignored="use racer tune -q"),
    "debugLevel": Option("debug-level", ignored="failures are recorded with their output"),
    # irace's own schedule
    "nbIterations": Option("iterations", ignored=_SCHEDULE),
    "nbExperimentsPerIteration": Option("experiments-per-iteration", ignored=_SCHEDULE),
    "nbConfigurations": Option("num-configurations", ignored=_SCHEDULE),
    "mu": Option("mu", ignored=_SCHEDULE, neutral=(5,)),
    "softRestart": Option(
        "soft-restart", ignored="racer widens its search where it is used up", neutral=(1,)
    ),
    "softRestartThreshold": Option("soft-restart-threshold", ignored=_SCHEDULE),
    "elitist": Option("elitist", refused="racer's races are elitist: leave it out", neutral=(1,)),
    "elitistNewInstances": Option(
        "elitist-new-instances", ignored="each race begins with one new block", neutral=(1,)
    ),
    "elitistLimit": Option(
        "elitist-limit", ignored="a race ends when a test of all eliminates none", neutral=(2,)
    ),
    "postselection": Option(
        "postselection", ignored="the elites are raced with the rest of the budget"
    ),
    # capping
    "capping": Option("capping", becomes="runtime"),
    "cappingAfterFirstTest": Option("capping-after-first-test", ignored=_CAPPING, neutral=(0, 1)),
    "cappingType": Option("capping-type", ignored=_CAPPING, neutral=("median",)),
    "boundType": Option("bound-type", ignored=_CAPPING, neutral=("candidate",)),
    "boundMax": Option("bound-max", becomes="runtime"),
    "boundDigits": Option(
        "bound-digits",
        ignored="the runner gets whole seconds, rounded up; the exact bound counts",
    ),
    "boundPar": Option("bound-par", becomes="runtime"),
    "boundAsTimeout": Option(
        "bound-as-timeout",
        ignored="survivors that were stopped below boundMax run again at the end",
        neutral=(0, 1),
    ),
}

_TESTS = {
    "f-test": "f-race",
    "friedman": "f-race",
    "t-test": "t-race",
    "t-test-bonferroni": "t-race-bonferroni",
    "t-test-holm": "t-race-holm",
}
_MARKS = {
    "configurationID": "candidate",
    "instanceID": "instance_id",
    "seed": "seed",
    "instance": "instance",
    "targetRunnerArgs": "parameters",
}
_CMDLINE = "{configurationID} {instanceID} {seed} {instance} {bound} {targetRunnerArgs}"
_BUDGETS = {"maxExperiments", "maxTime"}
_TEXTS = {"scenarioFile", "targetRunnerLauncher", "targetRunnerLauncherArgs", "targetCmdline"}
_PATHS = {
    *("execDir", "parameterFile", "forbiddenFile", "configurationsFile", "logFile"),
    *("trainInstancesDir", "trainInstancesFile", "testInstancesDir", "testInstancesFile"),
    "targetRunner",
}
THE_OPTIONS = "the options"
"""The place of values given on the command line."""


def from_irace(
    options: Mapping[str, tuple[Any, int]], source: str, *, complete: bool = True
) -> tuple[dict[str, Any], list[str]]:
    """Return the settings that options of irace are, and notes on ignored and changed options.

    The line of an option is 0 if it is of the command line, not of the file. If `complete`, irace's
    defaults are added for files that are not named.
    """
    notes: list[str] = []
    given: dict[str, Any] = {}
    for name, (value, line) in options.items():
        where = f"{source}, line {line}" if line else THE_OPTIONS
        if name not in OPTIONS and name.startswith("."):
            continue  # a variable of the user's own
        _check_option(name, value, where)
        if value in _NO_VALUE:
            continue
        option, given[name] = OPTIONS[name], value
        if option.ignored and value not in option.neutral:
            notes.append(f"{where}: {name} = {_shown(value)} is ignored: {option.ignored}")
    if given.get("boundMax") and not _caps(given):
        bound = f"{source}: boundMax = {given['boundMax']!r}"
        notes.append(f"{bound} is the bound that the runner gets, in each run")
    settings = {
        **_files(given, complete=complete, names_folder="trainInstancesDir" in options),
        **_command(given, source, complete=complete),
        **_runtime(given, source),
        **_numbers(given, source),
    }
    if complete and "held_out" in settings:
        settings.setdefault("test_elites", 1)  # as irace does
    return settings, notes


def _check_option(name: str, value: Any, where: str) -> None:
    """Raise SettingError for an option, or a kind of value, that cannot be used."""
    if name not in OPTIONS:
        hint = did_you_mean(name, OPTIONS)
        raise SettingError(f"{where}: {name!r} is no option of irace{hint}")
    if value in _NO_VALUE:
        return
    option, says = OPTIONS[name], f"{where}: {name} = {_shown(value)}"
    if option.becomes and isinstance(value, list):
        raise SettingError(f"{says}: give one value")
    if name in _PATHS | _TEXTS and not isinstance(value, str):
        raise SettingError(f"{says}: give text, in quotes")
    if option.refused and value not in option.neutral:
        raise SettingError(f"{says} cannot be used: {option.refused}")


def _shown(value: Any) -> str:
    """Return a value as R has it."""
    if isinstance(value, list):
        return f"c({', '.join(map(_shown, value))})"
    if isinstance(value, float) and math.isnan(value):
        return "NA"
    return str(value).upper() if isinstance(value, bool) else repr(value)


def typed(name: str, text: str) -> Any:
    """Return the value of an option on the command line as a file has it: numbers as such."""
    if name not in _PATHS | _TEXTS:
        for kind in (int, float):
            with suppress(ValueError):
                return kind(text)
    return text


def merged(
    options: Mapping[str, tuple[Any, int]], others: Mapping[str, tuple[Any, int]], folder: Path
) -> dict[str, tuple[Any, int]]:
    """Return options of a scenario with others instead, whose paths begin in `folder`."""
    limits = {name for name in _BUDGETS & others.keys() if others[name][0] not in (*_NO_VALUE, 0)}
    replaced = _BUDGETS if limits else set()
    kept = {name: value for name, value in options.items() if name not in replaced}
    absolute = {
        name: (str(folder / value), line) if name in _PATHS and value else (value, line)
        for name, (value, line) in others.items()
    }
    return {**kept, **absolute}


def _files(given: Mapping[str, Any], *, complete: bool, names_folder: bool) -> dict[str, Any]:
    found = {
        OPTIONS[name].becomes: str(given[name])
        for name in ("execDir", "parameterFile", "forbiddenFile", "configurationsFile")
        if name in given
    }
    if complete:
        found = {"space": "./parameters.txt", "cwd": "./", **found}
    if "logFile" in given:
        log = re.sub(r"\.Rdata$", "", str(given["logFile"]), flags=re.IGNORECASE)
        found["store"] = log if log.lower().endswith(".db") else f"{log}.db"
    for which in ("train", "test"):
        name = "instances" if which == "train" else "held_out"
        folder, file = (given.get(f"{which}Instances{what}") for what in ("Dir", "File"))
        if which == "train" and complete and not names_folder:
            folder = "./Instances"
        if file is not None:
            found[name] = str(file)
            if folder is not None:
                found[f"{name}_folder"] = str(folder)
        elif folder is not None:
            found[name] = str(folder)
    return found


def _command(given: Mapping[str, Any], source: str, *, complete: bool) -> dict[str, Any]:
    names = {"targetRunner", "targetRunnerLauncher", "targetCmdline", "targetRunnerLauncherArgs"}
    if not complete and not names & given.keys():
        return {}
    runner = str(given.get("targetRunner", "./target-runner"))
    if "/" not in runner:  # irace looks for it where the scenario is, not on PATH
        runner = f"./{runner}"
    if given.get("aclib"):
        return {"command": [runner], "protocol": "aclib"}
    line = str(given.get("targetCmdline", _CMDLINE))
    first = runner
    if launcher := given.get("targetRunnerLauncher"):
        first = str(launcher)
        if "targetCmdline" not in given:
            around = given.get("targetRunnerLauncherArgs", "{targetRunner} {targetRunnerArgs}")
            line = str(around).replace("{targetRunnerArgs}", line)
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise SettingError(
            f"{source}: the arguments {line!r} cannot be split as a shell would: {error}"
        ) from None
    if launcher:
        words = [word.replace("{targetRunner}", runner) for word in words]
    arguments = [first, *words]
    bound: Any = "{bound}"
    if not _caps(given):
        bound = _as(float, "boundMax", given.get("boundMax", 0), source)
    return {
        "command": [_marked(word, bound) for word in arguments if bound or word != "{bound}"],
        "protocol": "irace",
    }


def _marked(word: str, bound: Any) -> str:
    def mark(found: re.Match[str]) -> str:
        if found[1] == "bound":
            return f"{bound:.15g}" if isinstance(bound, float) else str(bound)
        return f"{{{_MARKS[found[1]]}}}" if found[1] in _MARKS else "{" + found[0] + "}"

    return re.sub(r"\{(\w+)\}", mark, word)


def _caps(given: Mapping[str, Any]) -> bool:
    return given.get("capping") not in (*_NO_VALUE, 0, "0", False)


def _runtime(given: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Return run times that are capped, if irace would."""
    if not _caps(given):
        return {}
    if "boundMax" not in given:
        raise SettingError(
            f"{source}: capping = {_shown(given['capping'])} needs boundMax, in seconds"
        )
    return {
        "runtime": {
            "limit": _as(float, "boundMax", given["boundMax"], source),
            "par": _as(float, "boundPar", given.get("boundPar", 1), source),
        }
    }


_WHOLE = ("firstTest", "eachTest", "seed", "digits", "parallel", "deterministic")
_WHOLE_IF_ANY = (
    "maxExperiments",
    "minNbSurvival",
    "targetRunnerRetries",
    "blockSize",
    "testNbElites",
)
_REAL_IF_ANY = ("maxTime", "targetRunnerTimeout")


def _numbers(given: Mapping[str, Any], source: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in given.items():
        becomes = OPTIONS[name].becomes
        if name in _WHOLE or (name in _WHOLE_IF_ANY and value):
            found[becomes] = _as(int, name, value, source)
        elif name in _REAL_IF_ANY and value:
            found[becomes] = _as(float, name, value, source)
        elif name == "sampleInstances":
            found[becomes] = "shuffled" if _as(int, name, value, source) else "given"
        elif name == "testType":
            if str(value).lower() not in _TESTS:
                known = ", ".join(_TESTS)
                raise SettingError(f"{source}: testType = {_shown(value)}: give one of {known}")
            found[becomes] = _TESTS[str(value).lower()]
            if _caps(given) and found[becomes] == "f-race":
                found[becomes] = "f-race-last-sign"  # of the last two, too, by signs alone
    if "n_jobs" in found:
        found["n_jobs"] = max(found["n_jobs"], 1)
    if "deterministic" in found:
        found["deterministic"] = bool(found["deterministic"])
    return found


def _as(kind: type[Any], name: str, value: Any, source: str) -> Any:
    try:
        number = float(value)
        if kind is float or number.is_integer():
            return kind(number)
    except (TypeError, ValueError, OverflowError):
        pass
    wanted = "a number" if kind is float else "a whole number"
    raise SettingError(f"{source}: {name} = {_shown(value)}: give {wanted}")
