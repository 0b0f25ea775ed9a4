"""Which way is up: what says whether larger scores are better, for every table and command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer.errors import ScoresError
from racer.failures import penalty

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGER_IS_BETTER = "larger_is_better"  # in `attrs` of a frame of scores: by the file they are from

_LARGER = {
    *("accuracy", "accuracies", "acc", "auc", "auroc", "auprc", "f1", "fbeta"),
    *("precision", "recall", "sensitivity", "specificity", "tpr", "tnr", "r2", "mcc", "kappa"),
    *("ndcg", "mrr", "bleu", "rouge", "meteor", "chrf", "comet", "iou", "miou", "dice", "jaccard"),
    *("psnr", "ssim", "reward", "rewards", "utility", "profit", "revenue", "quality"),
    *("likelihood", "loglikelihood", "loglik", "elbo", "pass", "passed", "success", "successes"),
    *("solved", "correct", "match", "matches", "em", "win", "wins", "winrate", "elo", "hits"),
    *("throughput", "bandwidth", "speed", "speedup", "fps", "qps", "coverage", "hypervolume"),
    *("similarity", "correlation", "saved", "saving", "savings", "reduction", "improvement"),
    *("gain", "agreement", "survival"),
}
_SMALLER = {
    *("error", "errors", "err", "loss", "losses", "logloss", "mse", "rmse", "mae", "mape", "rmsle"),
    *("brier", "nll", "ece", "perplexity", "ppl", "deviance", "bits", "bpb", "wer", "cer", "ter"),
    *("fid", "lpips", "fpr", "fnr", "cost", "costs", "price", "prices", "dollars", "usd", "spend"),
    *("penalty", "time", "times", "runtime", "runtimes", "seconds", "secs", "millis", "ms"),
    *("minutes", "hours", "duration", "durations", "latency", "delay", "wallclock", "par10"),
    *("par2", "makespan", "tokens", "iterations", "evaluations", "memory", "bytes", "rss"),
    *("regret", "gap", "discrepancy", "failures", "failed", "fails", "timeouts", "misses"),
    *("mistakes", "violations", "crashes", "wrong", "incorrect", "unsolved", "false", "rank"),
    "ranks",
}
# words that may turn a name over: 1-shot accuracy, 1 - accuracy; tokens per second
_UNCLEAR = re.compile(
    r"^\W*1(00)?\W*[-\u2212\u2013]|(\b|_)(not?|non|un|inverse|reciprocal|drop|decrease|degradation|"
    r"diff(erence)?|delta)(\b|_)|(/|\bper\b|_per_)\W*(s|sec|second|min|minute|h|hour)s?(\b|_)"
)
_NEGATED = re.compile(r"(?<!false.)(?<!true.)(neg|negative|minus|negated)(?=[\W_])[\W_]+")


class Direction(NamedTuple):
    """Whether larger scores are better, and in words what says so."""

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
        if larger is None:
            larger, why = by_format, ", as the file says"
        if larger is None:
            larger, why = larger_is_better(metric or ""), f", assumed of {metric!r}"
        if larger is None and values is not None:
            larger, why = _by_failures(values), ", assumed of the failures"
        if larger is None:
            what = "the scores" if metric is None else repr(metric)
            raise ScoresError(
                f"are larger scores better? Nothing says it of {what}: give maximize=True or "
                "maximize=False (--maximize or --minimize)"
            )
        return cls(larger, f"{'larger' if larger else 'smaller'} is better{why}")


def _by_failures(values: NDArray[np.float64]) -> bool | None:
    """Return what failures among values say: they are infinite, or a penalty such as PAR10.

    A penalty is at least five times any other value, of which most differ: no grade is.
    """
    worst, others = penalty(values), values[np.isfinite(values)]
    if worst is not None and len(set(others.tolist())) > len(others) / 2 and others.min() >= 0.0:
        return False if worst >= 5.0 * others[others < worst].max() else None
    high, low = bool(np.isposinf(values).any()), bool(np.isneginf(values).any())
    return None if high == low else low


def larger_is_better(name: str) -> bool | None:
    """Return what the name of scores says; None if that is nothing."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).casefold()
    rest = _NEGATED.sub("", parted)
    words = set(re.findall(r"[^\W\d_]+\d*", f"{rest} {name.casefold()}"))  # cpuTime, and mIoU
    words |= {word.rstrip("0123456789") for word in words}  # rouge1, bleu4
    larger, smaller = bool(words & _LARGER), bool(words & _SMALLER)
    if larger == smaller or _UNCLEAR.search(parted):
        return None
    return larger == (rest == parted)
