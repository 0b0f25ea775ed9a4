"""The result of a race."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from racer.deciders.bayesian_friedman import agrees_with_posterior
from racer.render.html import write_page
from racer.results import page, pictures, summary
from racer.results.base import Result
from racer.results.means import means_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from _typeshed import StrPath
    from matplotlib.axes import Axes

    from racer.render.sections import Piece
    from racer.results.base import Draw

__all__ = ["RaceResult"]


class RaceResult(Result):
    """The result of a race.

    Attributes
    ----------
    best : object or None
        The configuration with the largest `probability_best`, eliminated or not; None without
        evidence for any (every evaluation failed, all survivors tie and no candidate was
        eliminated, or the race ended before its first test).
    best_index : int or None
        Its place among the candidates.
    guess : int or None
        The candidate to take if one must be taken now: `best_index`, or before there is one (a
        deadline, say) the likeliest to be the best. None without a success, where all are equal,
        and in a race to a front. `probability_best` says how much it is worth.
    configs : tuple
        The candidates, by number.
    survivors : tuple of int
        The candidates that were not eliminated, best standing first.
    ended : Ended
        Why the race ended; `ended.message` is a sentence.
    scores : DataFrame
        One row per cell evaluated, in the order of blocks; `racer.results.scores.COLUMNS` lists and
        describes its columns.
    table : DataFrame, blocks x candidates
        Values of `evaluate`; NaN where a candidate was out or its evaluation failed.
    eliminations : DataFrame
        block, candidate, reason, against: one row per candidate eliminated; and where a test
        gave the reason, probability and measure, which names its kind: an e-value may exceed 1.
    verdicts : DataFrame
        One row per test of the decider: block, and the result of its omnibus test, such as gate,
        statistic and p_value.
    failures : DataFrame
        The rows of `scores` whose evaluation failed, with the reason in `message`.
    blocks : DataFrame
        instance (its index; <NA> without instances), seed, evaluated, set_aside: one row per
        block.
    evaluations : int
        Evaluations, failed ones included. Of run times, a run stopped at a cap and repeated
        with a larger cap counts each time; `scores` and `table` have the last.
    seconds : float
        Sum of the wall times of all evaluations (not of the race: `n_jobs` shortens only that).
    spent : float or None
        Money that the evaluations cost, by `evaluate` (or `prices`); None without any.
    seed : int
        The seed that repeats this race.
    rules : Rules
        Its budget, decider, and all else that makes it.
    instances : tuple or None
        As they were given.
    shared_blocks : int
        How many blocks all survivors have seen.
    run_times : DataFrame
        Of run times, one row per survivor: score (by the criterion, as PAR10, on the blocks that
        all survivors and the best have seen), and of all its evaluations: unsolved (they reached
        the limit), failed, capped (below the limit; the score has their cap, a lower bound), blocks.
    posterior : BestPosterior
        The posterior of the best of all candidates (`racer.stats.best_posterior`), from all that
        is known of them: eliminated ones count, with their outcomes. By mean
        costs of run times, and where the decider compares means, else by costs in units of their
        block's spread.
    compared : tuple of int
        The candidates of which the best is sought: all.
    probability_best : dict of int to float
        Of each candidate, by that posterior; sums to 1. Equal, and not shown, without any success.
        With `racer.Within` or `racer.Constrained`, of being the answer (the sum is less
        than 1 where perhaps none is acceptable); empty with `racer.Pareto`.
    credible_set : tuple of int
        The fewest candidates that hold the best with probability .95, likeliest first.
    means : DataFrame
        With decider "mean", one row per candidate, the best mean first: items (or groups) that it
        has seen; mean (failed cells have the worst score), low, high; difference,
        difference_low, difference_high (from the mean of `best`, on common items). Confidence
        sequences: all rows of the means hold at once with probability 1 - alpha, at any
        time of the race, and so do the differences of all pairs (Waudby-Smith and Ramdas 2024).
        SettingError with other deciders.
    front : DataFrame
        Of several metrics, one row per candidate, the likeliest on the front first: probability_front;
        ``metric:<name>``, ``low:<name>`` and ``high:<name>``, the posterior mean of each metric over
        the successes (NaN without any), and its interval of .95. Of the metrics of `racer.Pareto`, else of all.
    probability_front : dict of int to float
        The posterior probability of each candidate that none is better in every metric.
    credible_front : tuple of int
        The fewest candidates that hold the whole front with probability .95, likeliest first.
    leaders : tuple of int
        The survivors, and `best` if it was eliminated, by `probability_best`; of a front the
        survivors by `probability_front`, and by number where these are equal.
    leader : int or None
        The survivor with the best standing, by which the decider goes; None where `best` is.
    verdict : tuple of str
        The result in sentences.
    unused : Unused
        Evaluations made ahead and not needed: cells and their seconds, which are in none of the
        above, and not charged to the budget.
    provenance : mapping
        How it was evaluated, as far as that is known: the name of `evaluate` or its command,
        limits, the version of racer, the number of workers, the wall time.
    correlation : float
        Of blocks that share data, in `posterior`: in `racer.integrations.sklearn`.

    Examples
    --------
    >>> import racer
    >>> result = racer.race(["a", "bb", "ccc"], lambda c, i, seed: len(c) + seed % 7, budget=60, seed=1)
    >>> result.best, result.survivors, result.ended.value
    ('a', (0,), 'decided')
    >>> list(result.eliminations.columns)
    ['block', 'candidate', 'reason', 'against']
    """

    _survivor_label, _is_race = "survivors", True

    @cached_property
    def means(self) -> pd.DataFrame:
        """One row per candidate: its mean score, and its difference from the best's."""
        return means_frame(self)

    @property
    def _sought(self) -> tuple[int, ...]:
        if not agrees_with_posterior(self.rules.decider):
            return self.compared
        gone = {drop.candidate for drop in self._eliminations if drop.reason == "inferior"}
        return tuple(candidate for candidate in self.compared if candidate not in gone)

    @property
    def verdict(self) -> tuple[str, ...]:
        """The result in sentences."""
        return summary.verdict(self)

    details = summary.details

    def _pieces(self) -> list[Piece]:
        return summary.printed(self)

    @property
    def _pictures(self) -> dict[str, Draw]:
        return pictures.race_pictures(self)

    def plot(self, kind: str | None = None, *, ax: Axes | None = None) -> Any:
        """Draw the result; a notebook shows the axes.

        Parameters
        ----------
        kind : {"race", "posterior", "costs", "front"}, optional
            The mean rank of each candidate so far, and all eliminations (the default); P(best);
            values on common blocks; with several metrics, the candidates by them, and the front
            (the default of a race to the front).
        ax : matplotlib Axes, optional
            By default on a figure of its own: ``.plot().figure.savefig("picture.png")``.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        SettingError
            There is no such picture.
        MissingExtraError
            Without matplotlib (``pip install 'racer-tuning[plot]'``).
        """
        return pictures.drawn(self._pictures, kind, ax)

    def to_dict(self, line: Callable[[Any], str] | None = None) -> dict[str, Any]:
        """Return the answer as plain data; `line` makes a command line of a configuration."""
        return summary.as_dict(self, line)

    def report(self, path: StrPath) -> None:
        """Write one HTML page with all of it, which needs no network; it replaces an old one.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        MissingExtraError
            Without Jinja or matplotlib (``pip install 'racer-tuning[report]'``).
        OSError
            The file cannot be written.
        """
        write_page(path, page.page("Report of a race", self, partial(page.race_sections, self)))
