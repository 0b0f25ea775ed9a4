"""The result of a tuning."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer._checks import with_article
from racer._numerics import as_json
from racer.core.cheap import Rung
from racer.deciders.decider import Blocks
from racer.deciders.parts.gates import Omnibus
from racer.deciders.parts.ranking import RunningRanks
from racer.errors import SettingError
from racer.render.html import write_page
from racer.results import page, pictures, summary
from racer.results.ablation import AblationResult
from racer.results.base import Result
from racer.results.baseline import Improvement, improvement, verdict_of_default
from racer.results.covariance import covariances
from racer.results.posterior import goes_by_means, likeliest
from racer.results.scores import scores_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    from _typeshed import StrPath
    from matplotlib.axes import Axes

    from racer.core.blocks import Stream
    from racer.core.cheap import Cheap
    from racer.core.events import RaceCompleted
    from racer.core.table import Table
    from racer.render.sections import Piece, Section
    from racer.results.base import Draw
    from racer.results.importance import Importance
    from racer.results.posterior import Covariances
    from racer.space.space import Space

    _Candidates = defaultdict[int, set[int]]  # by instance, or by block without any

__all__ = ["Origin", "TuneResult", "Verified"]

_DEFAULT_STANDS = (
    "The default is returned: on evaluations that chose neither, no configuration was better "
    "by two standard errors."
)
_LEVEL = 0.05  # of the test whether elites differ, and of the bound on failures
_FAIL = 0.05  # of those evaluated on an instance: so many fail, two at least
_COMPARED = 4  # candidates, at least
_COLUMNS = ("candidate", "race", "parent", "initial", "blocks", "mean")  # of `configurations`


@dataclass(frozen=True)
class Origin:
    """Where a candidate came from.

    Attributes
    ----------
    race : int
        The race that it entered first.
    parent : int or None
        The candidate around which it was sampled; None: initial, or from the whole space.
    initial : bool
        Given by the user.
    """

    race: int
    parent: int | None
    initial: bool = False


class Verified(NamedTuple):
    """Failures of the best configuration on the instances on which it was evaluated.

    Attributes
    ----------
    instances, failed : int
        How many instances it was evaluated on, and on how many of them it failed, with any seed.
        Blocks where there are no instances.
    at_most : float
        Upper bound of the share of instances like these on which it fails, with confidence .95
        (Clopper & Pearson, Biometrika 1934, one-sided). Too low where failures led to its choice.
    """

    instances: int
    failed: int
    at_most: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TuneResult(Result):
    """The result of a tuning.

    Attributes
    ----------
    best : dict or None
        The configuration with the largest `probability_best`. None without evidence
        for any.
    best_index : int or None
        Its number among all candidates of the tuning.
    guess : int or None
        The candidate to take if one must be taken now: see `RaceResult`.
    configs : tuple of dict
        The candidates, by number.
    elites, survivors : tuple of int
        The candidates that survived the last race with new ones, in the order of the model, which
        proposes around the first; `leaders` has the likeliest first. Elites that the race
        among them dropped, with the rest of the budget, come last.
    ended : Ended
        Why the tuning ended; `ended.message` is a sentence.
    indistinguishable : tuple of int
        The best, and the elites that are not told from it: all, unless a sign-flip test at level
        .05 tells them apart on the blocks that all have seen; then the elites in `credible_set`.
    verified : Verified or None
        On how many instances the best was evaluated, on how many it failed, and on what share of
        instances like these it fails at most. None without a best.
    compared : tuple of int
        The candidates of which `best` is the best; the `probability_best` of all others is
        0. They were evaluated on as many blocks as some elite, and wherever others fail; where a
        final stage chose among failing ones, no candidate that it found worse than `best`. With
        `racer.Pareto` all: `probability_front` speaks of each.
    shared_blocks : int
        How many blocks all elites have seen.
    eliminations : DataFrame
        block, candidate, reason, against, probability, measure: one row for each time that a
        candidate was eliminated. Blocks are numbered through all races, as in `BlockCompleted`.
    configurations : DataFrame
        One row per candidate, the index: race, parent, initial, blocks, mean, and its
        parameters ("mean (parameter)" if one has the name of another column, or of the index).
    races : DataFrame
        One row per race; the columns are the attributes of `RaceCompleted`.
    tests : DataFrame, held-out instances x elites and `best`
        Values of `evaluate`.
    fidelities : DataFrame
        One row per rung of `racer.Fidelity`, the index: `evaluations` (cheap ones, in no other
        table); `correlation`, Spearman's with full evaluations, of the same candidates on the same
        block, with its interval of .95, `low` and `high`, over so many `pairs`.
    evaluations : int
        As of `RaceResult`, without evaluations on held-out instances; cheap ones count as their
        share of a full one, rounded up.
    seconds : float
        Sum of their wall times.
    spent : float or None
        Money that they cost; None where no evaluation has a spend.
    seed : int
        The seed that repeats this tuning.
    space : Space
        The tuned space.
    test_instances : tuple
        Held-out instances, as they were given.
    test_means : dict of int to float
        The mean value of each elite, and of `best`, on them. A failed evaluation counts as one
        range of its instance's values behind the worst, or, if that is 0, the usual range, and is
        as far behind the worst of the others as its elite is on any other instance;
        `test_failures` has how many there are.
    scores, table, verdicts, failures, blocks, instances, rules, verdict, run_times, unused, provenance, \
    posterior, probability_best, credible_set, leaders, leader, front, probability_front, credible_front
        As of `RaceResult`.

    Examples
    --------
    >>> import racer
    >>> space = racer.Space({"x": racer.Integer(0, 3)})
    >>> result = racer.tune(space, lambda c, i, seed: c["x"] + seed % 7, budget=60, seed=1)
    >>> result.best, result.evaluations <= 60
    ({'x': 0}, True)
    """

    completed_races: tuple[RaceCompleted, ...]
    origins: tuple[Origin, ...]
    space: Space
    test_instances: tuple[Any, ...]
    is_verified: bool = False  # the leader, by a final stage
    _cheap: Cheap | None = None
    _only_described: str = ""  # by its store, and what to do: numbers stand for such instances

    _survivor_label = "elites"
    _frame_names = (*Result._frame_names, "configurations", "races", "tests")

    @property
    def best(self) -> dict[str, Any] | None:
        """The best configuration, or None."""
        best: dict[str, Any] | None = super().best
        return best

    @property
    def elites(self) -> tuple[int, ...]:
        """The survivors of the last race with new candidates, in the order of the model."""
        return self.survivors

    @property
    def _by_means(self) -> bool:
        return goes_by_means(self.rules, is_exact=self.stream.length is not None)

    @property
    def _covariances(self) -> Covariances:
        return covariances(self.space, self.configs)

    @cached_property
    def compared(self) -> tuple[int, ...]:
        """The candidates among which the best is sought: the most often evaluated."""
        if self.rules.is_front or self.leader is None:
            return super().compared
        found = compared(self.known, len(self.configs), self.survivors, self.stream)
        if not self.is_verified:
            return found
        some = sorted({*found, self.leader})
        while (other := likeliest(self._posterior_among(some), self.leader)) != self.leader:
            some.remove(other)  # it may seem better, but failed where the leader did not
        return tuple(some)

    @property
    def indistinguishable(self) -> tuple[int, ...]:
        """The elites that are not told from the best, and the best."""
        if not self._elites_differ:
            return self.leaders
        return tuple(c for c in self.leaders if c in {self.best_index, *self.credible_set})

    @cached_property
    def _elites_differ(self) -> bool:
        """Whether an omnibus test tells the elites apart, on the blocks that all have seen."""
        elites, known, stream = self.survivors, self.known, self.stream
        if len(elites) < 2 or not len(costs := known.costs(elites)):
            return False
        ranks = RunningRanks(len(elites))
        used = filter(known.is_usable, known.common(elites))
        instances = [stream.instance(block) or 0 for block in used]
        places = None if stream.n_instances is None else np.array(instances)
        ranks.update(Blocks(np.arange(len(elites)), costs, instances=places))
        like = self.rules.generalizes(stream.n_instances)
        opened, _ = Omnibus("sign-flip", _LEVEL, self.seed, generalize=like).ask(ranks)
        return opened

    @property
    def verdict(self) -> tuple[str, ...]:
        """The result in sentences."""
        # without failures, the final stage verifies the default alone
        stands = self.is_verified and not self.known.failures
        gained = _DEFAULT_STANDS if stands else verdict_of_default(self, self.default_index)
        found = (*([gained] if gained else []), *summary.verdict(self))
        known = self.verified
        if known is None or not self.known.failures:
            return found
        where = "in" if self.stream.n_instances is None else "on"
        what = "evaluations" if self.stream.n_instances is None else "instances"
        some = f"{where} {known.failed or 'none'} of {known.instances} {what}"
        most = f"{where} at most {100 * known.at_most:.0f} % of all such (95 %)"
        return (*found, f"The best failed {some}: {most}.")

    @cached_property
    def verified(self) -> Verified | None:
        """On how many instances the best was evaluated, and failed."""
        if self.best_index is None or self.rules.is_front:
            return None
        from scipy.special import betaincinv  # noqa: PLC0415

        there, failed = _by_instance(self.known, self.stream)
        n, k = (sum(self.best_index in some for some in by.values()) for by in (there, failed))
        most = 1.0 if k == n else float(betaincinv(k + 1, n - k, 1.0 - _LEVEL))
        return Verified(n, k, most)

    @property
    def default_index(self) -> int | None:
        """The number of the space's default, the present configuration; None without one."""
        default = self.space.default
        found = (c for c, o in enumerate(self.origins) if o.initial and self.configs[c] == default)
        return None if default is None else next(found, None)

    @cached_property
    def improvement(self) -> Improvement | None:
        """By how much the best is better than the default; None without one, or if it is that."""
        return improvement(self, self.default_index)

    details = summary.details

    def _pieces(self) -> list[Piece]:
        return summary.printed(self)

    @property
    def _pictures(self) -> dict[str, Draw]:
        first_races = [origin.race for origin in self.origins]
        return pictures.tuning_pictures(
            self,
            self.space,
            self.completed_races,
            first_races,
            lambda ax: self.importance.plot(ax=ax),
        )

    def plot(self, kind: str | None = None, *, ax: Axes | None = None) -> Any:
        """Draw the result; a notebook shows the axes.

        Parameters
        ----------
        kind : {"quality", "sampling", "parallel", "importance", "test", "posterior", "costs", "front"}, optional
            How far the leader of each race was behind the final best (the default, unless a front
            is searched); values sampled of each parameter, race by race; the elites in parallel
            coordinates; which parameters mattered; the elites' values on held-out instances;
            P(best) and values on common blocks; the candidates by several metrics.
        ax : matplotlib Axes, optional
            By default on a figure of its own: ``.plot().figure.savefig("picture.png")``.

        Returns
        -------
        matplotlib Axes (a Figure for "sampling")

        Raises
        ------
        SettingError
            There is no such picture; an ablation's is drawn by its own result.
        MissingExtraError
            Without matplotlib (``pip install 'racer-tuning[plot]'``).
        """
        if kind == "ablation":
            raise SettingError(
                "kind='ablation': an ablation needs evaluations of its own; make one, and draw it: "
                "racer.ablation(result, evaluate).plot()"
            )
        return pictures.drawn(self._pictures, kind, ax)

    def to_dict(self, line: Callable[[Any], str] | None = None) -> dict[str, Any]:
        """Return the answer as plain data; `line` makes a command line of a configuration."""
        return {
            **summary.as_dict(self, line),
            "indistinguishable": list(self.indistinguishable),
            "verified": None if self.verified is None else self.verified._asdict(),
            "races": [vars(race) for race in self.completed_races],
            **({} if self._cheap is None else {"fidelities": as_json(self._rungs)}),
        }

    def report(self, path: StrPath, *, ablation: AblationResult | None = None) -> None:
        """Write one HTML page with all of it, which needs no network; it replaces an old one.

        Parameters
        ----------
        path : str or path-like
        ablation : AblationResult, optional
            Of this tuning: the page shows it as well.

        Raises
        ------
        SettingError
            `ablation` is something else, or of a tuning with another space or seed.
        MissingExtraError, OSError
            As `RaceResult.report`.
        """
        if ablation is not None and not isinstance(ablation, AblationResult):
            raise SettingError(
                f"ablation= is {with_article(ablation)}: give the result of racer.ablation"
            )
        if ablation is not None and (other := difference(ablation, self)):
            raise SettingError(
                f"ablation= is that of another tuning, by its {other}: give that of this one"
            )

        def sections() -> list[Section]:
            races = page.race_table(self, self.completed_races)
            return page.tuning_sections(self, races, self.importance, ablation)

        write_page(path, page.page("Report of a tuning", self, sections))

    @cached_property
    def importance(self) -> Importance:
        """Which parameters mattered, by a surrogate: `racer.results.importance.Importance`."""
        from racer.results.importance import importance  # noqa: PLC0415  (SciPy's statistics)

        return importance(self, self.space)

    @cached_property
    def tests(self) -> pd.DataFrame:
        """Values on held-out instances."""
        import pandas as pd  # noqa: PLC0415

        rows = scores_frame(self.held_out, self.stream.held_out)
        default = self.default_index
        more = () if default in {None, *self.leaders} else (default,)
        leaders = pd.Index((*self.leaders, *more), name="candidate")
        rows = rows[rows["candidate"].isin(leaders)]
        if rows.empty:
            return pd.DataFrame(columns=leaders)
        return rows.pivot_table(
            index="instance", columns="candidate", values="value", dropna=False
        ).reindex(columns=leaders)

    @cached_property
    def configurations(self) -> pd.DataFrame:
        """One row per candidate."""
        import pandas as pd  # noqa: PLC0415

        rows = [
            {
                "race": origin.race,
                "parent": origin.parent,
                "initial": origin.initial,
                "blocks": len(self.known.of(candidate)),
                "mean": self.known.mean(candidate),
                **{_column(name): value for name, value in config.items()},
            }
            for candidate, (origin, config) in enumerate(
                zip(self.origins, self.configs, strict=True)
            )
        ]
        frame = pd.DataFrame(rows).rename_axis(index="candidate")
        return frame.astype({"parent": "Int64"}) if rows else frame

    @cached_property
    def fidelities(self) -> pd.DataFrame:
        """One row per rung: how well cheap evaluations tell the order of full ones."""
        import pandas as pd  # noqa: PLC0415

        return pd.DataFrame(self._rungs, columns=Rung._fields).set_index("fidelity")

    @cached_property
    def _rungs(self) -> list[dict[str, Any]]:
        rungs = () if self._cheap is None else self._cheap.rungs(self.known)
        return [rung._asdict() for rung in rungs]

    @property
    def _note(self) -> str:
        """How well cheap evaluations tell the order of full ones, in sentences."""
        return "" if self._cheap is None else f" {self._cheap.note(self.known)}"

    @cached_property
    def races(self) -> pd.DataFrame:
        """One row per race."""
        import pandas as pd  # noqa: PLC0415

        return pd.DataFrame([vars(race) for race in self.completed_races])


def difference(ablation: AblationResult, tuning: TuneResult) -> str:
    """Return how an ablation differs from a tuning, "space" or "seed"; or an empty string.

    Instances and objective are not compared: an ablation has some of the instances only, and a
    function may have another name where it is imported.
    """
    if ablation.space != tuning.space:
        return "space"
    return "seed" if ablation.seed != tuning.seed else ""


def compared(
    known: Table, n_candidates: int, elites: Sequence[int], stream: Stream
) -> tuple[int, ...]:
    """Return the candidates of which the best is sought.

    They were evaluated on each instance on which others fail, and most often among these: on as
    many blocks as any elite. Of hundreds, most of them seen on a block or two, one is likely to be
    exactly the best; but nobody knows which, and to take the likeliest costs much.
    """
    there, failed = _by_instance(known, stream)
    hard = [
        there[place]
        for place, some in failed.items()
        if max(_FAIL * len(there[place]), 2) <= len(some) < len(there[place])
    ]
    everyone = range(n_candidates)
    some = [c for c in everyone if all(c in seen for seen in hard)] or everyone
    blocks = {candidate: len(known.of(candidate)) for candidate in some}
    least = min((blocks[elite] for elite in elites if elite in blocks), default=0)
    least = min([least, *sorted(blocks.values())[-_COMPARED:]])
    return tuple(candidate for candidate in some if blocks[candidate] >= least)


def _by_instance(known: Table, stream: Stream) -> tuple[_Candidates, _Candidates]:
    """Return the candidates that were evaluated on an instance, or a block, and that failed there."""
    there: _Candidates = defaultdict(set)
    failed: _Candidates = defaultdict(set)
    for row in known.rows:
        there[stream.instance_or_block(row.block)].update(row.candidates.tolist())
    for failure in known.failures:
        failed[stream.instance_or_block(failure.block)].add(failure.candidate)
    return there, failed


def _column(name: str) -> str:
    """Return the column of a parameter: its name, unless another column has that."""
    return f"{name} (parameter)" if name in _COLUMNS else name
