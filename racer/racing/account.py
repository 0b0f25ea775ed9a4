"""The account of a race: the seconds and the money used, and the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from racer.errors import BudgetError, SettingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from racer.core.prices import Prices
    from racer.core.rules import Rules


class Account:
    """Seconds used, and the prices of evaluations where money is limited or they are known."""

    def __init__(
        self, rules: Rules, configs: Sequence[Any], instances: Sequence[Any] | None
    ) -> None:
        self.seconds: float = 0.0
        self.prices: Prices | None = rules.expected_prices(configs, instances)
        self._budget = rules.one_budget
        self.has_share: bool = self._budget.has_share

    def check(self, instances: Iterable[int | None], n_candidates: int) -> None:
        """Raise BudgetError if the money does not pay for all candidates on these instances."""
        if self.prices is None:
            return
        if self.prices.n_given not in {None, n_candidates}:
            raise SettingError(
                f"prices= has {self.prices.n_given} numbers for {n_candidates} candidates: give one "
                "each"
            )
        self.prices.check_instances()
        needed = [self.prices.total(range(n_candidates), instance) for instance in instances]
        if n_candidates > 1 and not self._budget.affords(sum(needed), spent=0.0):
            raise BudgetError(
                f"budget of {self._budget}: {n_candidates} candidates on the {len(needed)} blocks "
                f"before the first test cost {sum(needed):.6g}; raise the budget, give fewer "
                "candidates, or lower first_test"
            )

    def affords(self, price: float, spent: float | None, *, is_endless: bool) -> bool:
        """Return whether the money pays for a block.

        One that costs nothing can always be paid, but not where nothing else would end the race.
        """
        limits = self._budget
        if not price and spent is not None and limits.evaluations is None is limits.seconds:
            return not is_endless
        return limits.affords(price, spent=spent or 0.0)

    def share(self, evaluations: int, spent: float | None) -> float:
        """Return the fraction of the budget used."""
        return self._budget.share(evaluations=evaluations, seconds=self.seconds, spent=spent or 0.0)
