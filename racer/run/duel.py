"""`racer.duel`: which player is the best, by votes between pairs that are chosen one by one."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Mapping
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from racer._checks import check_fraction, whole
from racer._entry import as_user, entry
from racer.comparison.votes import VOTES, of_votes
from racer.core.pool import as_sequence
from racer.errors import RaceInterrupted, ScoresError, SettingError
from racer.evaluate.coroutines import event_loop
from racer.evaluate.objective import describe, is_coroutine_function, misfit
from racer.results.duel import DuelResult
from racer.seeding import check_seed, rng_for
from racer.stats.best import BestPosterior
from racer.stats.bradley_terry_model import rough_strengths, strengths_of_votes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["duel"]

_DRAWS = 500  # of the strengths, for the next pairs
_SURELY_BROKEN = 20  # calls of a judge, all failed
_COLUMNS = ["model_a", "model_b", "winner", "item"]
_POINTS = {"model_b": 0, "tie": 1, "model_a": 2}
_WINNERS = {"a": "model_a", "b": "model_b", "tie": "tie"}


@entry
def duel(
    players: Mapping[str, Any] | Sequence[Any],
    judge: Callable[..., Any],
    items: Sequence[Any] | None = None,
    *,
    budget: int,
    alpha: float = 0.05,
    votes: pd.DataFrame | None = None,
    n_jobs: int = 1,
    seed: int | None = None,
) -> DuelResult:
    """Find the best player by votes between pairs, each pair where its vote is needed most.

    Davidson's model (Bradley-Terry with ties) gives each player a strength. The next pair are the
    best of one draw from its posterior, and the best other one of a second draw. A pair is asked
    in both orders in turn, and the first place may have a strength of its own. It ends when the
    set that holds the best with probability 1 - alpha is one player at two looks in turn, a tenth
    of the votes apart.

    Parameters
    ----------
    players : mapping of str to object, or sequence
        By name, or named by their text.
    judge : callable
        ``judge(a, b, item)``, or ``judge(a, b)`` without items, returns "a", "b" or "tie". It may
        be a coroutine function. A call that raises, or returns anything else, is not a vote.
    items : sequence, optional
        What players are compared on: prompts, boards. A pair meets on each in random order, and
        then on each in the other order.
    budget : int
        Calls of the judge at most.
    alpha : float in (0, 0.5)
    votes : DataFrame, optional
        Earlier votes, as `DuelResult.votes` has them.
    n_jobs : int
        Calls of a coroutine function at a time; as many pairs are chosen at once.
    seed : int >= 0, optional
        Repeats the pairs, with the same votes.

    Returns
    -------
    DuelResult

    Raises
    ------
    SettingError
        Players of one name, or another invalid setting.
    RaceInterrupted
        Ctrl-C (it is a KeyboardInterrupt); its `result` is the result so far.

    References
    ----------
    Davidson (JASA 1970); Russo: Simple Bayesian algorithms for best-arm identification (2020).

    Examples
    --------
    >>> import racer
    >>> strength = {"small": 0, "large": 2, "huge": 4}
    >>> result = racer.duel(strength, lambda a, b: "a" if a > b else "b", budget=100, seed=1)
    >>> result.best
    'huge'
    """
    listed = players if isinstance(players, Mapping) else as_sequence(players, "players")
    pairs = listed.items() if isinstance(listed, Mapping) else ((one, one) for one in listed)
    named = {str(name): player for name, player in pairs}
    if len(named) < len(listed) or not named:
        raise SettingError("players: give one or more, each with a name of its own")
    inputs = None if items is None else as_sequence(items, "items")
    if not callable(judge):
        raise SettingError(f"judge={judge!r}: give a function judge(a, b, item)")
    call, n = ("judge(a, b) without items=", 2) if inputs is None else ("judge(a, b, item)", 3)
    if why := misfit(judge, call, n):
        raise SettingError(why)
    n_jobs = min(
        whole(n_jobs, "n_jobs", least=1), sys.maxsize if is_coroutine_function(judge) else 1
    )
    state = _Duels(tuple(named), inputs, check_seed(seed), check_fraction(alpha, "alpha", high=0.5))
    if votes is not None:
        state.take(votes)
    try:
        while state.n_calls < whole(budget, "budget", least=1) and state.ended is None:
            chosen = state.next(min(n_jobs, budget - state.n_calls))
            some = [[named[one], named[other]] for one, other, _ in chosen]
            if inputs is not None:
                some = [[*both, inputs[i]] for both, (*_, i) in zip(some, chosen, strict=True)]
            for vote, said in zip(chosen, _asked(judge, some), strict=True):
                state.tell(vote, said)
    except KeyboardInterrupt:
        state.ended = "interrupted"
        raise RaceInterrupted(state.result()) from None
    return state.result()


def _asked(judge: Callable[..., Any], arguments: list[list[Any]]) -> list[Any]:
    """Return the judge's votes on some pairs, or the error that it raises."""
    if is_coroutine_function(judge):

        async def gathered() -> list[Any]:
            calls = (judge(*some) for some in arguments)
            return await asyncio.gather(*calls, return_exceptions=True)

        return asyncio.run_coroutine_threadsafe(gathered(), event_loop()).result()
    return [_said(judge, some) for some in arguments]


def _said(judge: Callable[..., Any], arguments: list[Any]) -> Any:
    try:
        with as_user():
            return judge(*arguments)
    except Exception as error:  # noqa: BLE001  (of the user's)
        return error


class _Duels:
    """The votes so far, and the pairs whose votes are needed next."""

    def __init__(self, names: tuple[str, ...], items: Any, seed: int, alpha: float) -> None:
        self._names, self._items, self._seed, self._alpha = names, items, seed, alpha
        self._rng, k = rng_for(seed, "duel"), len(names)
        self._votes: list[tuple[str, str, str, str]] = []
        self._failures: list[str] = []
        self._counts = np.zeros((3, k, k))  # lost, tied, won, by first and second
        self._met: Counter[tuple[int, int]] = Counter()
        order = self._rng.permutation(k).tolist()
        self._chain = [*pairwise(order)]  # so that all are connected
        self._due = 0  # votes before the next look at the exact posterior
        self._was_sure = False  # at the last look
        self.n_calls, self.ended = 0, "one player" if k == 1 else None

    def take(self, votes: pd.DataFrame) -> None:
        """Take in earlier votes."""
        if missing := {*_COLUMNS} - {*getattr(votes, "columns", ())}:
            raise ScoresError(f"votes: no column {min(missing)!r}; give those of DuelResult.votes")
        for vote in votes[_COLUMNS].astype(str).itertuples(index=False, name=None):
            if vote[2] not in _POINTS or not {*vote[:2]} <= {*self._names}:
                raise ScoresError(f"votes: {vote} has another player, or winner")
            self._add(vote)
            one, other = sorted(map(self._names.index, vote[:2]))
            self._met[one, other] += 1  # with the same seed, the next item is one not asked yet

    def _add(self, vote: tuple[str, str, str, str]) -> None:
        one, other, winner, _ = vote
        self._votes.append(vote)
        self._counts[_POINTS[winner], self._names.index(one), self._names.index(other)] += 1

    def next(self, n: int) -> list[tuple[str, str, int]]:
        """Return up to n votes to ask for: first, second, number of the item; none at the end."""
        strengths = rough_strengths(self._counts, self._rng, _DRAWS)
        if len(self._votes) >= self._due and _chances(strengths).max() >= 1.0 - self._alpha:
            chances = self._posterior().probability_best
            # at one look among many it may be by chance
            self._was_sure, sure = chances.max() >= 1.0 - self._alpha, self._was_sure
            if sure and self._was_sure:
                self.ended = "decided"
                return []
            self._due = int(1.1 * len(self._votes)) + 1
        chosen = [self._ordered(*self._chain.pop()) for _ in range(min(n, len(self._chain)))]
        for one, other in strengths.reshape(-1, 2, len(self._names))[: n - len(chosen)]:
            first = int(one.argmax())
            other[first] = -np.inf
            pair = (first, int(other.argmax()))
            if not self._is_open(pair):
                some = [p for p in combinations(range(len(self._names)), 2) if self._is_open(p)]
                if not some:
                    break
                pair = some[self._rng.integers(len(some))]
            chosen.append(self._ordered(*pair))
        if not chosen:
            self.ended = "items"
        return chosen

    def _is_open(self, pair: tuple[int, ...]) -> bool:
        """Return whether a pair has not met on each item in both orders."""
        key = (min(pair), max(pair))
        return self._items is None or self._met[key] < 2 * len(self._items)

    def _ordered(self, one: int, other: int) -> tuple[str, str, int]:
        """Return a pair in the order that is its turn, on its next item."""
        key = (min(one, other), max(one, other))
        n, rng = self._met[key], rng_for(self._seed, "duel", *key)
        self._met[key] += 1
        first, item, turn = int(rng.integers(2)), n, 0
        if self._items is not None:
            turn, place = divmod(n, len(self._items))
            item = int(rng.permutation(len(self._items))[place])
        i, j = key if (first + n + turn * (len(self._items or ()) + 1)) % 2 else key[::-1]
        return self._names[i], self._names[j], item

    def tell(self, asked: tuple[str, str, int], said: Any) -> None:
        """Take in the judge's votes."""
        self.n_calls += 1
        one, other, i = asked
        if said in _WINNERS:
            item = str(len(self._votes)) if self._items is None else str(self._items[i])
            self._add((one, other, _WINNERS[said], item))
            return
        text = (
            describe(said, where=True)
            if isinstance(said, BaseException)
            else f"said {said!r:.60}, not 'a', 'b' or 'tie'"
        )
        self._failures.append(text)
        if not self._votes and len(self._failures) >= _SURELY_BROKEN:
            self.ended = "all failed"

    def _posterior(self) -> BestPosterior:
        """Return the posterior of the best; a rough one while some were never compared."""
        try:
            votes = of_votes(self._frame()).attrs[VOTES]
            strengths = strengths_of_votes(votes, self._names, seed=self._seed).strengths
        except ScoresError:
            strengths = rough_strengths(self._counts, self._rng, 10 * _DRAWS)
        return BestPosterior(_chances(strengths), -strengths.mean(axis=0), len(self._votes))

    def _frame(self) -> pd.DataFrame:
        return pd.DataFrame(self._votes, columns=_COLUMNS)

    def result(self) -> DuelResult:
        """Return the result so far."""
        return DuelResult(
            names=self._names,
            posterior=self._posterior(),
            votes=self._frame(),
            failures=tuple(self._failures),
            ended=self.ended or "budget",
            evaluations=self.n_calls,
            seed=self._seed,
            alpha=self._alpha,
        )


def _chances(strengths: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return how often each is the best of draws (n, K)."""
    return np.bincount(strengths.argmax(axis=1), minlength=strengths.shape[1]) / len(strengths)
