"""One step from a configuration toward another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from racer.errors import CandidateError

if TYPE_CHECKING:
    from racer.space.space import Space

Config = dict[str, Any]


def toward(space: Space, here: Config, target: Config, name: str) -> Config | None:
    """Return a configuration with one parameter as in the target, and what that forces.

    Children that begin to exist take the target's value, those that no longer do vanish, and a
    value outside its new bounds becomes the target's. None if that is not allowed, or changes
    nothing.
    """

    def choose(parameter: str, domain: Any) -> Any:
        known = [c[parameter] for c in (here, target) if parameter in c]
        wanted = [target[parameter]] if parameter == name else known
        for value in wanted:
            try:
                return domain.clean(value)
            except ValueError:
                continue
        return domain.decode(0.5)

    try:
        built = space.build(choose)
        config = None if built is None else space.check(built)
    except CandidateError:
        return None
    return None if config is None or space.key(config) == space.key(here) else config
