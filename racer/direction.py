"""Which way is up: what says whether larger scores are better, for every table and command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from racer.errors import ScoresError

if TYPE_CHECKING:
    from collections.abc import Iterable

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
        cls, names: Iterable[str], maximize: bool | None, *, by_format: bool | None = None
    ) -> Direction:
        """Return the direction: as the caller says, else the file of the scores, else their names.

        `names` are those of a metric, or of all columns that hold scores, which must agree.

        Raises
        ------
        ScoresError
            Nothing says it: a question.
        """
        names = list(names)
        larger, why = maximize, ""
        if larger is None:
            larger, why = by_format, ", as the file says"
        if larger is None:
            larger, why = larger_is_better(*names), f", assumed of {names[0]!r}" if names else ""
        if larger is None:
            what = repr(names[0]) if len(names) == 1 else "the scores"
            raise ScoresError(
                f"are larger scores better? Nothing says it of {what}: give maximize=True or "
                "maximize=False (--maximize or --minimize)"
            )
        return cls(larger, f"{'larger' if larger else 'smaller'} is better{why}")


def larger_is_better(*names: str) -> bool | None:
    """Return what names of scores say; None if that is nothing, or not the same."""
    found = {_larger_is_better(name) for name in names}
    return found.pop() if len(found) == 1 else None


def _larger_is_better(name: str) -> bool | None:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).casefold()
    rest = _NEGATED.sub("", parted)
    words = set(re.findall(r"[^\W\d_]+\d*", f"{rest} {name.casefold()}"))  # cpuTime, and mIoU
    words |= {word.rstrip("0123456789") for word in words}  # rouge1, bleu4
    larger, smaller = bool(words & _LARGER), bool(words & _SMALLER)
    if larger == smaller or _UNCLEAR.search(parted):
        return None
    return larger == (rest == parted)
