"""Which way is up: how every table and command learns whether larger scores are better."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer._checks import choice
from racer.errors import ScoresError
from racer.failures import penalty

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGER_IS_BETTER = "larger_is_better"  # in `attrs` of a frame of scores: by the file they are from

_SIGNED = {  # whose values may be below 0
    *("reward", "rewards", "rew", "return", "returns", "utility", "profit", "likelihood"),
    *("loglikelihood", "loglik", "elbo", "r2", "mcc", "kappa", "correlation", "gain"),
    *("improvement", "saved", "saving", "savings", "similarity"),
}
_LARGER = {
    *("accuracy", "accuracies", "acc", "auc", "auroc", "auprc", "f1", "fbeta", "precision"),
    *("recall", "sensitivity", "specificity", "tpr", "tnr", "ndcg", "mrr", "bleu", "rouge"),
    *("meteor", "chrf", "comet", "iou", "miou", "dice", "jaccard", "psnr", "ssim", "revenue"),
    *("pass", "passed", "success", "successes", "solved", "correct", "match", "matches", "em"),
    *("win", "wins", "winrate", "elo", "hits", "throughput", "bandwidth", "speedup", "fps"),
    *("qps", "coverage", "hypervolume", "agreement", "survival", *_SIGNED),
}
_SMALLER = {
    *("error", "errors", "err", "loss", "losses", "logloss", "mse", "rmse", "mae", "mape", "rmsle"),
    *("smape", "mase", "owa", "wape", "rmsse", "nrmse", "crps", "pinball", "eer"),
    *("brier", "nll", "ece", "perplexity", "ppl", "deviance", "bits", "bpb", "wer", "cer", "ter"),
    *("fid", "lpips", "fpr", "fnr", "cost", "costs", "price", "prices", "dollars", "usd", "spend"),
    *("penalty", "time", "times", "runtime", "runtimes", "seconds", "secs", "millis", "ms"),
    *("minutes", "hours", "duration", "durations", "latency", "delay", "wallclock", "par10"),
    *("par2", "makespan", "tokens", "iterations", "evaluations", "memory", "bytes", "rss"),
    *("regret", "gap", "discrepancy", "failures", "failed", "fails", "timeouts", "misses"),
    *("mistakes", "violations", "wrong", "incorrect", "unsolved", "false", "rank", "ranks"),
}
# what may turn a name over: 1-shot accuracy, 1 - accuracy, exp(-loss); tokens per second; the spread
# of an accuracy; success of an attack; rank-1 accuracy
_UNCLEAR = re.compile(
    r"^\W*1(00)?(\.0*)?\W*[-\u2212\u2013/]|\(\s*[-\u2212\u2013]|\brank\W*\d|\btime ?steps?\b|"
    r"\b(not?|non|un|inv|inverse|reciprocal|minus|drop|decrease|degradation|reduction|"
    r"diff(erence)?|delta|closed|free|fixed|found|detected|corrected|avoided|prevented|survived|"
    r"alive|attacks?|jailbreaks?|harmful|std\w*|stderr|sd|variance|var|ci)\b|"
    r"\berror (detection|correction)|\b(to|until|before|between)\b.*\b(fail|crash|death|error)|"
    r"(/|\bper\b)\W*(unit )?(s|sec|second|min|minute|h|hour|day|time|dollar|usd|euro|joule|watt|"
    r"kwh|gb|cost)s?\b|/ ?\$"
)
_NEGATED = re.compile(
    r"(?<!false.)(?<!true.)\b(neg|negative|negated)\W+|^(one |100? )?minus |^\W*[-\u2212\u2013]\W*"
)
_UP = re.compile(r"[\u2191\u2b06]|\b(high|larg|bigg|great)er( is)? better|\bmore is better")
_DOWN = re.compile(r"[\u2193\u2b07]|\b(low|small)er( is)? better|\bless is better")


GOALS = ("min", "max", "minimize", "maximize")
"""How a direction is given."""


def maximizes(goal: Any) -> bool:
    """Return whether larger scores are better; SettingError for a value that is not a direction."""
    choice(goal, "goal", GOALS)
    return str(goal).startswith("max")


class Direction(NamedTuple):
    """Whether larger scores are better, and the reason in words."""

    maximize: bool
    words: str

    @classmethod
    def of(
        cls,
        metric: str | None,
        maximize: bool | None,
        *,
        by_format: bool | None = None,
        values: NDArray[np.float64] | None = None,
    ) -> Direction:
        """Return the direction: as the caller says, the file of the scores, their name, or failures.

        Names of algorithms say nothing: a focal loss is one.

        Raises
        ------
        ScoresError
            Nothing says it: a question.
        """
        larger, why = maximize, ""
        by_name = larger_is_better(metric or "", values)
        if None not in (larger, by_name) and larger != by_name:
            why = f", as given, although {metric!r} says otherwise"
        if larger is None:
            larger, why = by_format, ", as the file says"
        if larger is None:
            larger, why = by_name, f", assumed of {metric!r}"
        if larger is None and values is not None and larger_is_better(metric or "") is None:
            larger, why = _by_failures(values), ", assumed of the failures"
        if larger is None:
            what = "the scores" if metric is None else repr(metric)
            raise ScoresError(
                f"are larger scores better? Nothing says it of {what}: give goal='max' or goal='min'"
            )
        return cls(larger, f"{'larger' if larger else 'smaller'} is better{why}")


def _by_failures(values: NDArray[np.float64]) -> bool | None:
    """Return the direction that failures imply: they are infinite, or a penalty such as PAR10.

    A penalty is at least five times any other value, of which most differ: no grade is.
    """
    worst, others = penalty(values), values[np.isfinite(values)]
    if worst is not None and len(set(others.tolist())) > len(others) / 2 and others.min() >= 0.0:
        return False if worst >= 5.0 * others[others < worst].max() else None
    high, low = bool(np.isposinf(values).any()), bool(np.isneginf(values).any())
    return None if high == low else low


def larger_is_better(name: str, values: NDArray[np.float64] | None = None) -> bool | None:
    """Return the direction that a name of scores implies; None if values have another sign."""
    text = unicodedata.normalize("NFKC", name)
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", text).casefold()
    rest = _NEGATED.sub("", parted)
    words = set(re.findall(r"[^\W\d_]+\d*", f"{rest} {text.casefold()}"))  # cpuTime, and mIoU
    words |= {word.rstrip("0123456789") for word in words}  # rouge1, bleu4
    larger, smaller, negated = bool(words & _LARGER), bool(words & _SMALLER), rest != parted
    up, down = bool(_UP.search(parted)), bool(_DOWN.search(parted))
    said = None if larger == smaller or _UNCLEAR.search(rest) else larger != negated
    if up or down:
        return up if up != down and said in {None, up} else None
    if values is not None and not words & _SIGNED and not re.match("(one|100?) ", parted):
        known = values[np.isfinite(values) & (values != 0.0)]
        if len(known) and (known > 0.0 if negated else known < 0.0).all():
            return None
    return said
