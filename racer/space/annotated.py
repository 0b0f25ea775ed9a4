"""A space from the annotated fields of a dataclass or a pydantic model."""

from __future__ import annotations

import enum
import inspect
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from racer.errors import SettingError
from racer.space.numeric import Integer, Real
from racer.space.parameters import Categorical, Ordinal

# types of what stands for nothing
_MISSING = {"_MISSING_TYPE", "PydanticUndefinedType", "NoneType"}


def arguments_of_class(cls: Any) -> dict[str, Any]:
    """Return the arguments of a space: the parameters, and the default if each has one."""
    fields = getattr(cls, "__dataclass_fields__", getattr(cls, "model_fields", None))
    if not inspect.isclass(cls) or fields is None:
        raise SettingError(f"{cls!r}: give a dataclass, or a pydantic model")
    try:
        hints = get_type_hints(cls, include_extras=True)
    except NameError as error:
        raise SettingError(
            f"{cls.__name__}: {error}; define it in a module, not in a function"
        ) from None
    parameters, default = dict[str, Any](), dict[str, Any]()
    for name, field in fields.items():
        domain = _domain(hints[name], getattr(field, "metadata", None))
        given = [
            one
            for one in (field.default, field.default_factory)
            if type(one).__name__ not in _MISSING
        ]
        if domain is not None:
            parameters[name] = domain
            if given:
                default[name] = getattr(given[0], "value", given[0])
        elif not given and field.default is not None:
            raise SettingError(
                f"{cls.__name__}.{name} has no domain: give Annotated[float, racer.Real(0, 1)], a "
                "Literal, bool or Enum; or a default, which it then has in all configurations"
            )
    return {
        "parameters": parameters,
        "default": default if len(default) == len(parameters) else None,
    }


def _domain(hint: Any, metadata: Any) -> Any:
    """Return the domain of a field; None if its annotations have none."""
    more = [*metadata] if isinstance(metadata, list) else []  # where pydantic keeps them
    if get_origin(hint) is Annotated:
        hint, more = hint.__origin__, [*hint.__metadata__, *more]
    for one in more:
        if isinstance(one, Real | Integer | Categorical | Ordinal):
            return one
    if hint is bool or get_origin(hint) is Literal:
        return Categorical([False, True] if hint is bool else list(get_args(hint)))
    if inspect.isclass(hint) and issubclass(hint, enum.Enum):
        return Categorical([one.value for one in hint])
    least, most = (
        next((getattr(one, end) for one in more if hasattr(one, end)), None) for end in ("ge", "le")
    )
    if least is None or most is None or hint not in {int, float}:
        return None
    return Real(least, most) if hint is float else Integer(least, most)
