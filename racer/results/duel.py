"""The result of duels: which player is the best, from votes between pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from racer._checks import counted
from racer._numerics import as_json
from racer.render.notebook import Displayed
from racer.render.sections import Grid, number
from racer.results import summary

if TYPE_CHECKING:
    import pandas as pd

    from racer.render.sections import Piece
    from racer.stats.best import BestPosterior

__all__ = ["DuelResult"]

_SAID = {
    "decided": "{} is the best of {} players (probability {}).",
    "one player": "{} is the only player.",
    "all failed": "No vote was given: the judge failed each time.",
}
_SO_FAR = "Best so far: {}, of {} players, but not surely (probability {})."


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DuelResult(Displayed):
    """Which of several players is the best, from votes between pairs.

    Attributes
    ----------
    best : str or None
        The player that is most probably the best; None without a vote that decides.
    ended : str
        "decided": the 95 % set (1 - alpha) is one player; "budget"; "items": each pair has been
        asked on each item in both orders; "all failed"; "one player"; "interrupted".
    probability_best : dict of str to float
        By the posterior of Davidson's model; the likeliest first.
    credible_set : tuple of str
        The fewest players that hold the best with probability 1 - alpha.
    votes : DataFrame
        model_a, model_b, winner ("model_a", "model_b" or "tie"), item: `racer.compare` takes it.
    failures : tuple of str
        Why a vote was not given.
    evaluations : int
        Calls of the judge.
    seed : int
    posterior : BestPosterior
        By players in their order; its means are minus the strengths.

    Examples
    --------
    >>> import racer
    >>> judge = lambda a, b: "a" if len(a) > len(b) else "b"
    >>> result = racer.duel(["x", "xxx", "xx"], judge, budget=200, seed=1)
    >>> result.best, result.ended
    ('xxx', 'decided')
    """

    names: tuple[str, ...]
    posterior: BestPosterior
    votes: pd.DataFrame
    failures: tuple[str, ...]
    ended: str
    evaluations: int
    seed: int
    alpha: float

    @property
    def best(self) -> str | None:
        """The best."""
        is_open = len(self.names) > 1 and not (self.votes["winner"] != "tie").any()
        return None if is_open else self.names[self.posterior.best]

    @property
    def probability_best(self) -> dict[str, float]:
        """Of each player, the likeliest first."""
        chances = self.posterior.probability_best
        return {self.names[i]: float(chances[i]) for i in self.posterior.order}

    @property
    def credible_set(self) -> tuple[str, ...]:
        """The players that may be the best."""
        return tuple(self.names[i] for i in self.posterior.credible_set(1.0 - self.alpha))

    def _pieces(self) -> list[Piece]:
        chances = self.probability_best
        said = _SAID.get(self.ended, _SO_FAR)
        if self.best is None and self.ended != "all failed":
            said = "All votes are ties: no player is better."
        first, met = next(iter(chances)), self.votes[["model_a", "model_b"]].stack().value_counts()  # noqa: PD013
        rows = [
            (name, number(chance, 2), str(met.get(name, 0))) for name, chance in chances.items()
        ]
        ended = {"items": "instances", "one player": "decided"}.get(self.ended, self.ended)
        end = summary.end(ended, counted(self.evaluations, "vote"), "item")
        votes = f"{end}. Repeat with seed={self.seed}."
        failed = (
            f" {counted(len(self.failures), 'call')} of the judge failed, first: {self.failures[0]}"
            if self.failures
            else ""
        )
        said = said.format(first, len(self.names), number(chances[first], 2))
        return [said, Grid.of(("player", "P(best)", "votes"), rows, ["player"]), votes + failed]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        names = ("best", "ended", "probability_best", "credible_set", "failures", "evaluations")
        found = {name: getattr(self, name) for name in (*names, "seed", "alpha")}
        plain: dict[str, Any] = as_json(found | {"votes": self.votes.to_dict("records")})
        return plain
