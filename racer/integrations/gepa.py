"""Racing in GEPA: a proposal is accepted when it is better on unseen items."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from racer._checks import whole
from racer.deciders.anytime import AnytimeRace
from racer.deciders.mean import MeanRace
from racer.deciders.named import as_decider
from racer.errors import SettingError
from racer.evaluate.outcome import Outcome
from racer.racing.race import Race
from racer.seeding import check_seed, rng_for, seed_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gepa.core.adapter import GEPAAdapter
    from gepa.core.data_loader import DataLoader
    from gepa.core.state import GEPAState
    from gepa.proposer.base import CandidateProposal

    from racer.deciders.decider import Decider

__all__ = ["RaceAcceptance"]


class RaceAcceptance:
    """Accept a proposal that wins a race against its parent: an ``acceptance_criterion`` of GEPA.

    GEPA accepts when the sum of the scores on a minibatch grows, on the very items that the
    proposal was written for. Here that is a first hurdle only. Then parent and proposal race
    on other items of the training set, in random order, until one of them is eliminated: the
    proposal is accepted if that is the parent. Evaluations count as GEPA's metric calls. They pay
    with hundreds of validation items; with few, GEPA's own criterion finds more.

    Parameters
    ----------
    adapter : GEPAAdapter
        The one that ``gepa.optimize`` gets; its ``evaluate`` scores the items.
    trainset : sequence or DataLoader
        The training set that ``gepa.optimize`` gets.
    n_items : int >= 1
        Items per race at most.
    batch_size : int >= 1
        Items that the adapter gets at a time.
    decider : str or Decider, optional
        By default ``AnytimeRace(alpha=0.35)``: a proposal that is no better than its parent is
        accepted with probability .35 at most, whenever the race stops. For `MeanRace` the items
        are a sample, as with ``population=True``.
    seed : int >= 0
        Of the order of items.

    Raises
    ------
    SettingError
        Settings out of range, no training items, or a decider that would accept nothing
        (``"best-for-budget"`` keeps two candidates); in GEPA's loop, a number of scores that is
        not that of the items.

    References
    ----------
    Agrawal et al.: GEPA: reflective prompt evolution can outperform reinforcement learning
    (arXiv:2507.19457, 2025), algorithm 1.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> adapter = SimpleNamespace()  # its evaluate() asks a model
    >>> adapter.evaluate = lambda items, candidate, **_: SimpleNamespace(scores=[1.0] * len(items))
    >>> criterion = RaceAcceptance(adapter, ["1 + 1", "2 + 2"])

    ``gepa.optimize(.., adapter=adapter, trainset=.., acceptance_criterion=criterion)``
    """

    def __init__(
        self,
        adapter: GEPAAdapter[Any, Any, Any],
        trainset: Sequence[Any] | DataLoader[Any, Any],
        *,
        n_items: int = 32,
        batch_size: int = 4,
        decider: str | Decider | None = None,
        seed: int = 0,
    ) -> None:
        self._adapter = adapter
        self._trainset: Any = trainset if hasattr(trainset, "all_ids") else _Items(list(trainset))
        if not len(self._trainset):
            raise SettingError("trainset is empty: give the items that gepa.optimize gets")
        self._n_items = whole(n_items, "n_items", least=1)
        self._batch_size = whole(batch_size, "batch_size", least=1)
        self._decider = AnytimeRace(alpha=0.35) if decider is None else as_decider(decider)
        if isinstance(self._decider, MeanRace):  # the items of a race are a sample of all
            self._decider = replace(self._decider, population=True)
        self._seed, self._races = check_seed(seed), 0
        self._check_decider()

    def should_accept(self, proposal: CandidateProposal[Any], state: GEPAState[Any, Any]) -> bool:
        """Return whether a proposal may join the candidates."""
        before, after = proposal.subsample_scores_before, proposal.subsample_scores_after
        if not sum(map(_number, after or ())) > sum(map(_number, before or ())):  # NaN is not
            return False
        parent = state.program_candidates[proposal.parent_program_ids[0]]
        seen = set(proposal.subsample_indices or ())
        self._races += 1
        seed = seed_for(self._seed, "acceptance", self._races)
        ids = list(self._trainset.all_ids())
        order = rng_for(seed, "order").permutation(len(ids)).tolist()
        fresh = [at for at in order if ids[at] not in seen][: self._n_items]
        if not fresh:
            return False
        race = self._race(fresh, seed)
        for start in range(0, len(fresh), self._batch_size):
            batch = [ids[at] for at in fresh[start : start + self._batch_size]]
            items = self._trainset.fetch(batch)
            scores = [self._scores(items, candidate) for candidate in (parent, proposal.candidate)]
            state.increment_evals(2 * len(items))
            for pair in zip(*scores, strict=True):
                if race.ended is None:
                    race.tell_block([_outcome(score) for score in pair])
            if race.ended is not None:
                break
        return race.alive == (1,)

    def _check_decider(self) -> None:
        """Refuse a decider that keeps a parent that loses on all items; it would accept nothing."""
        race = self._race(range(self._n_items), 0)
        while race.ended is None:
            race.tell_block([Outcome("ok", 0.0), Outcome("ok", 1.0)])
        if race.alive != (1,):
            raise SettingError(
                f"decider={self._decider!r} eliminates none of two candidates on n_items="
                f"{self._n_items} items, so no proposal would be accepted: leave it out, or give "
                'one that tests, AnytimeRace(alpha=0.35) or "mean", and 9 items or more'
            )

    def _race(self, items: Sequence[int], seed: int) -> Race:
        """Return a race between the parent, 0, and the proposal, 1."""
        return Race(
            ["parent", "proposal"],
            items,
            decider=self._decider,
            budget=2 * len(items),
            maximize=True,
            deterministic=True,
            first_test=1,
            seed=seed,
        )

    def _scores(self, items: list[Any], candidate: dict[str, str]) -> list[Any]:
        """Return the scores of a candidate on items."""
        scores = self._adapter.evaluate(items, candidate, capture_traces=False).scores
        if len(scores) != len(items):
            raise SettingError(f"the adapter gave {len(scores)} scores of {len(items)} items")
        return list(scores)


class _Items:
    """A sequence as a DataLoader: its items by their places."""

    def __init__(self, items: list[Any]) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def all_ids(self) -> Sequence[int]:
        return range(len(self._items))

    def fetch(self, ids: Sequence[int]) -> list[Any]:
        return [self._items[at] for at in ids]


def _number(score: Any) -> float:
    """Return a score as a number, NaN if it is none."""
    try:
        return float(score)
    except (TypeError, ValueError):
        return math.nan


def _outcome(score: Any) -> Outcome:
    """Return the outcome of an item; without a finite score it has failed, and ranks last."""
    if math.isfinite(number := _number(score)):
        return Outcome("ok", number)
    return Outcome("failed", message=f"the adapter gave the score {score}")
