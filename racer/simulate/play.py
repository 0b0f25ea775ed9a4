"""Playing races in a world, again and again, and their results."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from racer._checks import check_jobs, choice, whole
from racer.core.arguments import Instances
from racer.core.budget import Budget
from racer.deciders.named import as_decider
from racer.errors import SettingError
from racer.evaluate.outcome import Outcome
from racer.racing.race import Race
from racer.seeding import check_seed, seed_for

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from racer.core.arguments import Goal
    from racer.core.rules import Rules
    from racer.deciders.decider import Decider
    from racer.evaluate.outcome import Cell
    from racer.results.race import RaceResult
    from racer.simulate.worlds import Drawn, World

Select = Literal["standing", "mean"]


@dataclass(frozen=True, eq=False)
class Play:
    """Result of many races in one world.

    Attributes
    ----------
    frame : DataFrame
        One row per repetition: seed, ended, selected, and the indicators below.
    summary : dict of str to float
        The mean of each indicator over the repetitions in which it is defined (NaN if in none).

        mae : how many candidates are better than the selected one (its rank minus 1)
        regret : how much worse it is than the best, in units of quality
        iter : blocks used, as a fraction of the blocks allowed
        observations : evaluations used
        survivors : candidates left at the end
        best_dropped : whether the best candidate was dropped (of several that are equally good,
            the fraction that was)
        indistinguishable : candidates dropped as indistinguishable
        truly_indistinguishable : the fraction of these that win against their opponent with
            probability within 0.5 +- 0.05
    errors : dict of str to float
        The standard error of each mean.

    Examples
    --------
    >>> from racer.simulate import NormalWorld
    >>> result = play("halving", NormalWorld(4, 0.1), repetitions=10, blocks=20)
    >>> result.summary["survivors"], result.errors["survivors"]
    (2.0, 0.0)
    >>> len(result.frame)
    10
    """

    rows: tuple[dict[str, Any], ...]

    def __repr__(self) -> str:
        """Return the number of races and the means."""
        means = ", ".join(f"{name}={mean:.4g}" for name, mean in self.summary.items())
        return f"Play({len(self.rows)} races: {means})"

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per repetition."""
        import pandas as pd  # noqa: PLC0415

        return pd.DataFrame(list(self.rows)).rename_axis(index="repetition")

    @cached_property
    def summary(self) -> dict[str, float]:
        """Mean of each indicator."""
        return {name: float(self._where_defined(name).mean()) for name in INDICATORS}

    @cached_property
    def errors(self) -> dict[str, float]:
        """Standard error of each mean."""
        return {name: float(self._where_defined(name).sem()) for name in INDICATORS}

    def _where_defined(self, name: str) -> Any:
        return self.frame[name].dropna().astype(np.float64)


INDICATORS = (
    *("mae", "iter", "observations", "regret", "indistinguishable", "truly_indistinguishable"),
    *("best_dropped", "survivors"),
)


def play(
    decider: str | Decider | None,
    world: World,
    *,
    repetitions: int = 200,
    n_jobs: int = 1,
    seed: int = 0,
    blocks: int | None = None,
    budget: int | Budget | None = None,
    goal: Goal = "min",
    select: Select = "standing",
) -> Play:
    """Play races in a world: the same `racer.Race`, fed from the world's table of costs.

    Parameters
    ----------
    decider : str, Decider or None
        None: the default of `racer.race`.
    world : World
    repetitions : int >= 1
    n_jobs : int
        joblib workers; the result is the same.
    seed : int >= 0
        Repeats the whole.
    blocks : int, optional
        How many blocks a race may use; the world's own number if it has one.
    budget : int or Budget, optional
        Evaluations that a race may spend besides; by default all candidates on all blocks. No
        seconds: nothing is run, so there are none.
    goal : "min" or Runtime
        As in `racer.race`; with `racer.Runtime`, costs are seconds.
    select : {"standing", "mean"}
        How a survivor is chosen, if there are several: by the best standing, as
        `RaceResult.leader`, or by the best mean cost, as in Benavoli et al. (2015).

    Returns
    -------
    Play

    Raises
    ------
    SettingError
        A setting out of range, no world, no number of blocks, or more than the world has; costs of
        a world that no race can use.

    References
    ----------
    Benavoli et al. (ICML 2015), section 7.1: MAE, ITER, and the indistinguishable pairs.

    Examples
    --------
    >>> from racer.simulate import NormalWorld
    >>> result = play("f-race", NormalWorld(10, 0.1), repetitions=20, blocks=100)
    >>> result.summary["observations"] < 10 * 100
    True
    """
    whole(repetitions, "repetitions", least=1)
    check_seed(seed)
    check_jobs(n_jobs)
    choice(select, "select", ("standing", "mean"))
    most = _blocks(world, blocks)
    if isinstance(budget, Budget) and budget.has_share:
        raise SettingError(
            f"budget={budget}: nothing is run here, so no seconds go by and no money is spent; give "
            "evaluations only"
        )
    settings: dict[str, Any] = {
        "decider": None if decider is None else as_decider(decider),
        "budget": most * world.n_candidates if budget is None else budget,
        "goal": goal,
    }
    # by repetition, not by worker: the result is the same for every n_jobs
    seeds = [seed_for(seed, "play", repetition) for repetition in range(repetitions)]
    Race(range(world.n_candidates), _once(most), seed=0, **settings)  # checks
    import joblib  # noqa: PLC0415

    one = joblib.delayed(_played)
    # eight batches for each worker: races differ in length, and each batch costs a message
    batch = -(-repetitions // (8 * joblib.effective_n_jobs(n_jobs)))
    rows = joblib.Parallel(n_jobs=n_jobs, batch_size=batch)(
        one(world, number, most, settings, select) for number in seeds
    )
    return Play(tuple(rows))


def _blocks(world: Any, blocks: int | None) -> int:
    """Return how many blocks a race may use; refuse other objects than worlds."""
    if isinstance(world, type) or not all(
        hasattr(world, name) for name in ("n_candidates", "n_blocks", "draw")
    ):
        raise SettingError(
            f"world={reprlib.repr(world)} is not a world: give for example NormalWorld(q, rho); a table "
            "of costs as RecordedWorld(table)"
        )
    most: int | None = world.n_blocks
    asked = most if blocks is None else whole(blocks, "blocks", least=1)
    if asked is None:
        raise SettingError("blocks=None: this world has no end; give a number of blocks")
    if most is not None and asked > most:
        raise SettingError(f"blocks={blocks}: this world has {most}")
    return asked


def _costs(drawn: Drawn, block: int, chosen: NDArray[np.intp], rules: Rules) -> NDArray[np.float64]:
    """Return the costs of some candidates on a block; refuse costs that no race can use."""
    shape = (len(drawn.quality),)
    all_costs = np.asarray(drawn.costs(block))
    if all_costs.dtype.kind not in "biuf" or all_costs.shape != shape:
        raise SettingError(
            f"the costs of this world on block {block} have shape {all_costs.shape} and type "
            f"{all_costs.dtype}: give an array of numbers, of shape {shape}"
        )
    costs: NDArray[np.float64] = all_costs[chosen].astype(np.float64)
    if not np.isfinite(costs).all():
        at = int((~np.isfinite(costs)).argmax())
        raise SettingError(
            f"the cost of candidate {chosen[at]} on block {block} of this world is {costs[at]}: give "
            "finite numbers"
        )
    if rules.runtime is not None and (costs < 0.0).any():
        at = int((costs < 0.0).argmax())
        raise SettingError(
            f"goal={rules.runtime!r}: the cost of candidate {chosen[at]} on block {block} of this "
            f"world is {costs[at]:.4g}, which is no time; give a world of seconds, such as "
            "RuntimeWorld(q, rho)"
        )
    return costs


def _once(blocks: int) -> Instances:
    return Instances(range(blocks), deterministic=True)


def run_race(drawn: Drawn, seed: int, blocks: int, settings: dict[str, Any]) -> RaceResult:
    """Run a race on drawn costs to its end; settings as `racer.Race`, which draws from `seed`."""
    m = len(drawn.quality)
    race = Race(range(m), _once(blocks), seed=seed, **settings)
    columns, rules = np.arange(m), race.rules
    needs_cells = rules.runtime or rules.bounds or rules.metric_names

    def told(cell: Cell) -> Outcome:
        cost = float(drawn.costs(cell.block)[cell.candidate])
        return Outcome("ok", cost, seconds=cost if rules.runtime else 0.0)

    race.ask()
    while race.ended is None:
        block = race.n_blocks
        if len(alive := race.alive) < len(columns):
            columns = np.array(alive)
        costs = _costs(drawn, block, columns, rules)
        if not needs_cells:
            # cells, with seeds and in random order, would take as long as many a test
            race._advance([Outcome("ok", cost) for cost in costs.tolist()])  # noqa: SLF001
        else:
            # also capped cells of earlier blocks
            while (cells := race.ask()) and cells[0].block <= block:
                race.tell_all([*map(told, cells)])
    return race.result()


def _played(
    world: World, seed: int, blocks: int, settings: dict[str, Any], select: Select
) -> dict[str, Any]:
    """Play one race; return its row of `Play.frame`."""
    drawn = world.draw(seed)
    result = run_race(drawn, seed, blocks, settings)
    quality, selected = drawn.quality, result.leader
    if select == "mean":
        selected, *others = result.survivors
        if others:
            means = np.nanmean(result.known.values(len(quality))[:, list(result.survivors)], axis=0)
            selected = result.survivors[int(means.argmin())]
    alike = [
        (gone.candidate, gone.against)
        for gone in result._eliminations  # noqa: SLF001  (as events, not as a frame)
        if gone.reason == "indistinguishable"
    ]
    truly = [abs(drawn.wins(*pair) - 0.5) < 0.05 for pair in alike]
    known = selected is not None
    best = np.flatnonzero(quality == quality.min())
    return {
        "seed": seed,
        "ended": result.ended.value,
        "selected": selected,
        "mae": int((quality < quality[selected]).sum()) if known else None,
        "iter": len(result.known) / blocks,
        "observations": result.evaluations,
        "regret": float(quality[selected] - quality.min()) if known else None,
        "indistinguishable": len(alike),
        "truly_indistinguishable": sum(truly) / len(truly) if truly else None,
        "best_dropped": 1.0 - float(np.isin(best, result.survivors).mean()),
        "survivors": len(result.survivors),
    }
