"""Spaces from dataclasses and pydantic models."""

import enum
from dataclasses import dataclass, field
from typing import Annotated, Literal

import pytest

import racer


class Kind(enum.Enum):
    SLOW = "slow"
    FAST = "fast"


@dataclass
class Training:
    rate: Annotated[float, racer.Real(1e-4, 1, log=True)] = 0.01
    layers: Annotated[int, racer.Integer(1, 8)] = 2
    optimizer: Literal["sgd", "adam"] = "adam"
    nesterov: bool = False
    kind: Kind = Kind.FAST
    folder: str = "out"
    more: list[str] = field(default_factory=list)


PARAMETERS = {
    "rate": racer.Real(1e-4, 1, log=True),
    "layers": racer.Integer(1, 8),
    "optimizer": racer.Categorical(["sgd", "adam"]),
    "nesterov": racer.Categorical([False, True]),
    "kind": racer.Categorical(["slow", "fast"]),
}
DEFAULT = {"rate": 0.01, "layers": 2, "optimizer": "adam", "nesterov": False, "kind": "fast"}


def test_a_dataclass():
    assert racer.Space.from_class(Training) == racer.Space(PARAMETERS, default=DEFAULT)


def test_without_all_defaults_there_is_none():
    @dataclass
    class Half:
        x: Annotated[float, racer.Real(0, 1)]
        on: bool = True

    assert racer.Space.from_class(Half).default is None


def test_a_pydantic_model():
    pydantic = pytest.importorskip("pydantic")

    class Model(pydantic.BaseModel):
        rate: Annotated[float, racer.Real(1e-4, 1, log=True)] = 0.01
        share: float = pydantic.Field(default=0.5, ge=0, le=1)
        depth: Annotated[int, pydantic.Field(ge=1, le=9)] = 3
        mode: Literal["x", "y"] = "x"
        name: str | None = None

    domains = {"share": racer.Real(0, 1), "depth": racer.Integer(1, 9)}
    expected = {"rate": PARAMETERS["rate"], **domains, "mode": racer.Categorical(["x", "y"])}
    default = {"rate": 0.01, "share": 0.5, "depth": 3, "mode": "x"}
    assert racer.Space.from_class(Model) == racer.Space(expected, default=default)


def test_a_field_without_domain_and_default_is_refused():
    @dataclass
    class Open:
        x: float

    with pytest.raises(racer.SettingError, match=r"Open\.x has no domain"):
        racer.Space.from_class(Open)
    with pytest.raises(racer.SettingError, match="give a dataclass"):
        racer.Space.from_class(dict)
