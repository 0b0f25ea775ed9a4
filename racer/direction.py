"""Which way is up: what says whether larger scores are better, for every table and command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from racer.errors import ScoresError

if TYPE_CHECKING:
    from collections.abc import Iterable

LARGER_IS_BETTER = "larger_is_better"  # in `attrs` of a frame of scores: by their format

_LARGER = {
    *("accuracy", "accuracies", "acc", "auc", "auroc", "auprc", "f1", "f2", "fbeta", "precision"),
    *("recall", "sensitivity", "specificity", "tpr", "tnr", "r2", "mcc", "kappa", "ndcg", "mrr"),
    *("bleu", "rouge", "meteor", "chrf", "comet", "iou", "miou", "dice", "jaccard", "psnr", "ssim"),
    *("reward", "rewards", "utility", "profit", "revenue", "quality", "likelihood"),
    *("loglikelihood", "loglik", "elbo", "pass", "passed", "success", "successes"),
    *("solved", "correct", "match", "matches", "em", "win", "wins", "winrate", "elo", "hits"),
    *("throughput", "speed", "speedup", "fps", "qps", "coverage", "hypervolume", "similarity"),
    *("saved", "saving", "savings", "reduction", "improvement", "gain", "agreement"),
}
_SMALLER = {
    *("error", "errors", "err", "loss", "losses", "mse", "rmse", "mae", "mape", "rmsle", "brier"),
    *(
        "nll",
        "ece",
        "logloss",
        "perplexity",
        "ppl",
        "deviance",
        "bpb",
        "wer",
        "cer",
        "fid",
        "lpips",
    ),
    *("fpr", "fnr", "cost", "costs", "price", "prices", "dollars", "usd", "spend", "penalty"),
    *(
        "time",
        "times",
        "runtime",
        "runtimes",
        "seconds",
        "secs",
        "millis",
        "ms",
        "minutes",
        "hours",
    ),
    *("duration", "durations", "latency", "delay", "wallclock", "par10", "par2", "makespan"),
    *("tokens", "iterations", "evaluations", "memory", "bytes", "rss", "flops"),
    *("regret", "gap", "discrepancy", "failures", "failed", "fails", "timeouts"),
    *("misses", "mistakes", "violations", "crashes", "wrong", "false", "rank", "ranks"),
}
_NEGATED = re.compile(r"(neg|negative|minus|negated)(?=[\W_])[\W_]+")


class Direction(NamedTuple):
    """Whether larger scores are better, and in words what says so."""

    maximize: bool
    words: str

    @classmethod
    def of(
        cls, names: Iterable[str], maximize: bool | None, *, by_format: bool | None = None
    ) -> Direction:
        """Return the direction: as the caller says, the names of scores, or their format.

        `names` are those of a metric, or of all columns that hold scores, which must agree.

        Raises
        ------
        ScoresError
            Nothing says it: a question.
        """
        if maximize is not None:
            return cls(maximize, f"{'larger' if maximize else 'smaller'} is better")
        names = list(names)
        by_name = larger_is_better(*names)
        if by_name is None and by_format is None:
            what = f"{names[0]!r}" if len(names) == 1 else "the scores"
            raise ScoresError(
                f"are larger scores better? Nothing says it of {what}: give maximize=True or "
                "maximize=False (--maximize or --minimize)"
            )
        larger = by_format if by_name is None else by_name
        why = "as in this format" if by_name is None else f"assumed of {names[0]!r}"
        return cls(bool(larger), f"{'larger' if larger else 'smaller'} is better, {why}")


def larger_is_better(*names: str) -> bool | None:
    """Return what names of scores say; None if that is nothing, or not the same."""
    found = {_larger_is_better(name) for name in names}
    return found.pop() if len(found) == 1 else None


def _larger_is_better(name: str) -> bool | None:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).casefold()
    rest = _NEGATED.sub("", parted)
    words = set(re.findall(r"[^\W\d_]+\d*", f"{rest} {name.casefold()}"))  # cpuTime, and mIoU
    larger, smaller = bool(words & _LARGER), bool(words & _SMALLER)
    if larger == smaller:
        return None
    return larger == (rest == parted)
