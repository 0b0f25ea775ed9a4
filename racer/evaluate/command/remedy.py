"""The meaning of a program's failures: exit codes that are answers, output that another setting reads."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from racer.evaluate.command.process import Printed
from racer.evaluate.command.protocols import NUMBER, READERS, labelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NOT_STARTED = "the program cannot be started"
OF_SAT = (10, 20)
"""Exit codes of SAT solvers: satisfiable, unsatisfiable."""

_RAN = re.compile(
    r"the program exited with code (\d+)([^\n]*)\n(?:command: .*?\nstdout: (.*)\nstderr: (.*))?",
    re.DOTALL,
)
_LABEL = re.compile(rf"^[ \t]*(\S[^:=\n]*[:=])[ \t]*{NUMBER}[ \t]*$", re.MULTILINE)


def failing_code(message: str) -> int | None:
    """Return the exit code by which a program failed, from the message; None for other failures."""
    found = _RAN.match(message)
    return int(found[1]) if found and not found[2] else None


def remedy(messages: Iterable[str], *, is_timed: bool = False) -> str:
    """Return advice: the settings with which failed runs of a program have a cost; or nothing.

    A program that has printed errors only has crashed. `is_timed`: the cost is run time.
    """
    runs = [found for message in messages if (found := _RAN.match(message))]
    codes = {int(run[1]) for run in runs if not run[2]}
    texts = [run[3] or "" for run in runs]
    when, settings = [], []
    if not any(texts) and any(run[4] for run in runs):
        return ""
    if codes:
        all_of = OF_SAT if codes <= {*OF_SAT} else sorted({0, *codes})
        when.append(f"exit code {min(codes)} is a success")
        settings.append(f"success_codes={[*all_of]}")
    if any(texts) or (runs and codes <= {*OF_SAT}):
        reading = _reading(texts, is_timed=is_timed)
        if reading[0] != "reads='stdout'" or not codes:
            settings += reading
        if len(reading) > 1 and "Runtime" in reading[1]:
            when.append("run time is the cost")
    advice = f"add {', '.join(settings)}" if settings else ""
    return f"if {' and '.join(when)}, {advice}" if when else advice


def _reading(texts: Sequence[str], *, is_timed: bool) -> list[str]:
    """Return the settings that read a cost from each of these outputs."""
    outputs = [Printed() for _ in texts]
    for output, text in zip(outputs, texts, strict=True):
        output.append(text.encode())
    labels = _LABEL.findall(texts[0])
    label = next((name for name in labels if "cost" in name.casefold()), (labels or ["cost:"])[-1])
    for name in ["stdout"] if is_timed else ["stdout", "last-line", "json", label]:
        read = READERS.get(name) or labelled(name)
        answers = [read(output, "quality") for output in outputs]
        if all(answer.status == "ok" for answer in answers):
            metrics = [*(answers[0].metrics or ())]
            return [
                f"reads={name!r}",
                *([f"goal={{{metrics[0]!r}: 'min'}}"] if metrics[1:] else []),
            ]
    return ["reads='nothing'", *([] if is_timed else ["goal=racer.Runtime(60)"])]


def on_common_code(messages: Iterable[str], n: int) -> str:
    """Return advice if nine tenths of `n` evaluations failed with one exit code; else nothing."""
    failed = [(failing_code(message), message) for message in messages]
    for code, times in Counter(code for code, _ in failed if code is not None).most_common(1):
        if times > 1 and times >= 0.9 * n:
            advice = remedy(message for other, message in failed if other == code)
            return f"{times} of {n} runs ended with exit code {code}: {advice}"
    return ""
