"""What `racer.compare` can be asked for: names, for whoever needs no more than these."""

from __future__ import annotations

from typing import Literal

__all__ = ["LocalRope", "Method", "Posthoc"]

Method = Literal[
    "auto", "bayesian-friedman", "friedman", "signed-rank", "bradley-terry", "plackett-luce"
]
Posthoc = Literal["wilcoxon-holm", "wilcoxon-hochberg", "wilcoxon-shaffer", "nemenyi", "conover"]
LocalRope = Literal["paired", "unpaired"]
