"""Parameters of classes that racer does not know: they work wherever racer's own do."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import pytest
from click.testing import CliRunner

import racer
from racer import CandidateError, Categorical, Param, Real, SettingError, Space, StoreError
from racer.cli import main
from racer.space import Domain, Parameter
from racer.space.vectors import choice_counts, features, vectors_around


@dataclass(frozen=True)
class Angles:
    """The values of an `Angle`: whole steps around a circle."""

    step: int

    @property
    def n(self):
        return 360 // self.step

    def decode(self, u):
        return self.step * min(int(u * self.n), self.n - 1)

    def encode(self, value):
        return (value / self.step + 0.5) / self.n

    def clean(self, value):
        if isinstance(value, str | bool | tuple) or value is None or value % self.step:
            raise ValueError(f"give a multiple of {self.step} degrees")
        return int(value % 360)

    def values(self):
        return iter(range(0, 360, self.step))


@dataclass(frozen=True)
class Angle:
    """A direction in degrees, where 370 is 10."""

    step: int = 5
    scale = "numeric"

    def names(self):
        return frozenset()

    def checked(self, name):
        if 360 % self.step:
            raise SettingError(f"{name}: step={self.step} does not divide 360")
        return self

    def domain(self, values):
        return Angles(self.step)

    def to_json(self):
        return {"step": self.step}


@dataclass(frozen=True)
class Orders:
    """The values of an `Order`."""

    among: tuple[tuple[str, ...], ...]

    @property
    def n(self):
        return len(self.among)

    def decode(self, u):
        return self.among[min(int(u * self.n), self.n - 1)]

    def encode(self, value):
        return (self.among.index(value) + 0.5) / self.n

    def clean(self, value):
        if value not in self.among:
            raise ValueError(f"give {', '.join(self.among[0])} in any order")
        return value

    def values(self):
        return iter(self.among)


@dataclass(frozen=True)
class Order:
    """Some steps, in any order."""

    steps: tuple[str, ...]
    scale = "nominal"

    def names(self):
        return frozenset()

    def checked(self, name):
        return self

    def domain(self, values):
        return Orders(tuple(permutations(self.steps)))

    def to_json(self):
        return {"steps": list(self.steps)}


@dataclass(frozen=True)
class Powers:
    """The values of a `Power`."""

    most: int

    @property
    def n(self):
        return self.most + 1

    def decode(self, u):
        return 2 ** min(int(u * self.n), self.most)

    def encode(self, value):
        return (math.log2(value) + 0.5) / self.n

    def clean(self, value):
        if value not in list(self.values()):
            raise ValueError(f"give a power of two up to {2**self.most}")
        return int(value)

    def values(self):
        return (2**k for k in range(self.n))


@dataclass(frozen=True)
class Power:
    """A power of two, at most the value of another parameter."""

    limit: str
    scale = "numeric"

    def names(self):
        return frozenset({self.limit})

    def checked(self, name):
        return self

    def domain(self, values):
        return Powers(int(math.log2(values[self.limit]))) if self.limit in values else None

    def to_json(self):
        return {"limit": self.limit}


def make(angle=Angle(), **settings):
    return Space(
        {
            "angle": angle,
            "order": Order(("cut", "fold", "glue")),
            "width": racer.Integer(1, 64),
            "power": Power("width"),
            "x": Real(0, 1),
            "kind": Categorical(["a", "b"]),
        },
        conditions={"x": {"order": [("cut", "fold", "glue"), ("glue", "fold", "cut")]}},
        forbidden=[(Param("angle") > 180) & (Param("kind") == "a"), Param("power") * 2 == 64],
        **settings,
    )


ELITE = {"angle": 90, "order": ("cut", "glue", "fold"), "width": 20, "power": 8, "kind": "b"}


def evaluate(config, instance, seed):
    """Prefer 200 degrees, glue last, a large power and a small x."""
    away = abs(config["angle"] - 200) / 360
    last = config["order"][-1] != "glue"
    noise = (seed % 1000) / 10_000
    return away + last - math.log2(config["power"]) / 10 + config.get("x", 0.5) / 10 + noise


def test_they_are_parameters():
    for outsider in (Angle(), Order(("a", "b")), Power("n")):
        assert isinstance(outsider, Parameter)
    for own in (Real(0, 1), racer.Integer(0, 1), Categorical(["a"]), racer.Ordinal(["a"])):
        assert isinstance(own, Parameter)
    domain: Domain = Angles(5)
    assert domain.n == 72


@pytest.mark.parametrize("method", ["uniform", "sobol", "lhs"])
def test_they_are_sampled(method):
    space = make()
    configs = space.sample(300, seed=1, method=method)
    assert len({space.key(config) for config in configs}) == 300
    assert {config["order"] for config in configs} == set(permutations(("cut", "fold", "glue")))
    assert {config["angle"] for config in configs} > set(range(0, 180, 5))
    for config in configs:
        assert space.check(config) == config
        assert space.decode(space.encode(config)) == config
        assert config["power"] <= config["width"]
        assert config["power"] != 32
        assert ("x" in config) is (config["order"][1] == "fold")
        assert config["angle"] <= 180 or config["kind"] == "b"
    evenly = Space({"angle": Angle()}).sample(72, seed=1, method="lhs")
    assert sorted(config["angle"] for config in evenly) == list(range(0, 360, 5))


def test_their_values_are_cleaned_and_keyed():
    space = make()
    assert space.check({**ELITE, "angle": 450}) == ELITE
    assert space.key({**ELITE, "angle": 450.0}) == space.key(ELITE)
    assert space.size == math.inf
    assert Space({"angle": Angle(30), "order": Order(("a", "b"))}).size == 24
    assert space.free == ("angle", "order", "width", "power", "x", "kind")
    assert [line.split()[:2] for line in repr(space).splitlines()[4:6]] == [
        ["angle", "Angle"],
        ["order", "Order"],
    ]
    for change, says in (
        ({"angle": 7}, "angle=7: give a multiple of 5 degrees"),
        ({"order": ("cut", "cut", "cut")}, "order=.*: give cut, fold, glue in any order"),
        ({"power": 32}, "power=32: give a power of two up to 16"),
        ({"angle": 200, "kind": "a"}, "is forbidden: "),
    ):
        with pytest.raises(CandidateError, match=says):
            space.check({**ELITE, **change})


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        (Param("order") == ("cut",), "has the value .'cut',.: give cut, fold, glue in any order"),
        (Param("order") > ("cut", "fold", "glue"), "only numbers and the levels of an Ordinal"),
        (Param("angle") == "north", "cannot be compared"),
    ],
)
def test_conditions_on_them_are_checked(condition, says):
    parameters = {"angle": Angle(), "order": Order(("cut", "fold", "glue")), "x": Real(0, 1)}
    with pytest.raises(SettingError, match=says):
        Space(parameters, conditions={"x": condition})


def test_ordinal_ones_are_compared_by_their_order():
    @dataclass(frozen=True)
    class Sizes(Order):
        scale = "ordinal"

        def domain(self, values):
            return Orders(tuple((step,) for step in self.steps))

    space = Space(
        {"size": Sizes(("s", "m", "l")), "x": Real(0, 1)}, conditions={"x": Param("size") >= ("m",)}
    )
    configs = space.sample(30, seed=0)
    assert all(("x" in config) is (config["size"] != ("s",)) for config in configs)
    assert choice_counts(space.parameters).tolist() == [0, 0]


def test_vectors_around_an_elite_and_for_the_surrogate():
    space = make()
    counts = choice_counts(space.parameters)
    assert counts.tolist() == [0, 6, 0, 0, 0, 2]
    parents = np.tile(space.encode(ELITE), (500, 1))
    drawn = vectors_around(parents, np.full(500, 0.05), counts, np.random.default_rng(1))
    net = space.net()
    for vector in drawn:
        net.offer(vector)
    assert len(net.found) > 100
    angles = [config["angle"] for config in net.found]
    assert max(abs(angle - 90) for angle in angles) < 90
    assert len({config["order"] for config in net.found}) > 1
    points = features(drawn, counts)
    assert set(points[:, 1, 1]) <= {1, 2, 3, 4, 5, 6}
    assert (points[:, 0, 0] == drawn[:, 0]).all()


class Wrong(Angles):
    def encode(self, value):
        return 0.5


@dataclass(frozen=True)
class Broken(Angle):
    values: object = Angles(5)
    scale: str = "numeric"
    needs: tuple[str, ...] = ()

    def names(self):
        return frozenset(self.needs)

    def domain(self, values):
        return self.values


@pytest.mark.parametrize(
    ("parameter", "says"),
    [
        (Angle, "p: Angle is a class: give Angle"),
        (Angle(7), "p: step=7 does not divide 360"),
        (
            Angles(5),
            "p: Angles.step=5. is not a parameter: give .* all members of racer.space.Param",
        ),
        (Broken(scale="cyclic"), "p: scale='cyclic': give one of nominal, ordinal, numeric"),
        (Broken(values=None), "p: .* has no value"),
        (Broken(values=Orders(())), "p: .* has no value"),
        (Broken(values=Wrong(5)), "p: its value 0 at u=0.0 is encoded as 0.5 and decoded as 180"),
        (Broken(scale="nominal", needs=("q",)), "p: nominal values may not depend on others"),
        (Broken(scale="ordinal", values=Real(0, 1).domain({})), "p: ordinal .* finitely many"),
        (Broken(values=Orders((object(),))), "p: its own value <object .*> is refused: give text"),
        (Broken(values=Orders((math.nan,))), "p: its own value nan is refused: give .* finite num"),
        (Power("qq"), "the domain of 'p' names 'qq', which is not a parameter; did you mean 'q'"),
        (Power("p"), "are circular: p -> p"),
    ],
)
def test_what_contradicts_itself_is_refused_with_the_name(parameter, says):
    with pytest.raises(SettingError, match=says):
        Space({"p": parameter, "q": racer.Integer(1, 4)})


def test_plain_data_only_describe_them():
    data = make().to_json()
    assert json.loads(json.dumps(data)) == data
    assert data["parameters"][0] == {"name": "angle", "outside": "Angle", "settings": {"step": 5}}
    with pytest.raises(SettingError, match="only describes its parameter of class Angle"):
        Space.from_json(data)
    assert make() == make()
    assert make() != make(Angle(10))
    assert make().parameters["angle"] == Angle(5)
    assert make() != Space({**make().parameters, "angle": Real(0, 360)})


def test_optuna_has_no_distribution_for_them():
    pytest.importorskip("optuna")
    with pytest.raises(SettingError, match=r"angle: Optuna has no distribution for Angle\(step=5"):
        Space({"angle": Angle()}).to_optuna()


def test_a_space_with_them_is_tuned():
    result = racer.tune(make(), evaluate, budget=400, seed=3)
    assert result.best["order"][-1] == "glue"
    assert abs(result.best["angle"] - 200) <= 60
    again = racer.tune(make(), evaluate, budget=400, seed=3)
    assert again.best == result.best
    assert again.configs == result.configs


def test_a_store_wants_them_again(tmp_path):
    path = tmp_path / "run.db"
    first = racer.tune(make(), evaluate, budget=150, seed=3, store=path)
    with pytest.raises(StoreError, match=r"the parameter 'angle' of class Angle.*resume\(.*space="):
        racer.resume(path, evaluate)
    assert racer.resume(path, evaluate, space=make()).configs == first.configs
    more = racer.resume(path, evaluate, space=make(), budget=250)
    assert more.configs == racer.tune(make(), evaluate, budget=[150, 250], seed=3).configs
    with pytest.raises(StoreError, match=r"'angle'.*'step'\] is 10, but .* has 5"):
        racer.resume(path, evaluate, space=make(replace(Angle(), step=10)))
    done = CliRunner().invoke(main, ["check", str(path)])
    assert done.exit_code == 0
    said = " ".join(done.output.split())
    assert "its space has the parameter 'angle' of class Angle: verdicts were not" in said
    assert "evaluate, space=..)" in done.output
