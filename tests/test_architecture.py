"""The rooms: no import cycle, imports only go left, side effects only where they belong."""

import ast
import graphlib
import sys
import tokenize
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent / "racer"

# A room may import from rooms before it.
ORDER = (
    *(
        "errors",
        "_checks",
        "seeding",
        "_numerics",
        "plots",
        "stats",
        "space",
        "evaluate",
        "comparison",
    ),
    *(
        "deciders",
        "racing",
        "simulate",
        "testing",
        "tuner",
        "store",
        "report",
        "run",
        "integrations",
        "cli",
    ),
)
STATS_MAY_IMPORT = {"errors", "_checks", "_numerics", "seeding", "plots", "stats"}
OUTSIDE = {
    *("os", "signal", "subprocess", "multiprocessing", "threading", "socket", "shutil"),
    *("tempfile", "pathlib", "sqlite3", "time", "datetime", "joblib", "rich", "click"),
    *("filelock", "platform", "resource", "io", "fcntl", "asyncio"),
}
MAY_TOUCH_OUTSIDE = (
    *(
        "evaluate.attempt",
        "evaluate.workers",
        "evaluate.loky",
        "evaluate.executor",
        "evaluate.limits",
        "evaluate.command",
        "simulate.play",
        "store",
        "run",
        "cli",
    ),
)
TERMINAL = {"rich", "click"}
NEVER = {"pickle", "eval", "exec", "compile", "__import__", "os.system", "os.popen"}
NEVER_IMPORTED = {
    "pickle",
    "marshal",
    "shelve",
    "dill",
    "code",
    "codeop",
    "runpy",
    "importlib.util",
}
NEVER_CALLED = {"system", "popen", "read_pickle", "getoutput", "getstatusoutput", "import_module"}


def modules():
    """Every module of the package by its name within it; the public facade is not a room."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        if parts and parts != ("__main__",):
            with tokenize.open(path) as source:
                found[".".join(parts)] = ast.parse(source.read(), str(path))
    return found


MODULES = modules()


def imports(tree):
    """All modules imported anywhere in a file, `from a import b` as a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def inner_imports(tree):
    """The modules of this package that a file imports."""
    for name in imports(tree):
        if name.split(".")[0] == "racer":
            inner = name.removeprefix("racer").lstrip(".")
            while inner and inner not in MODULES:
                inner = inner.rpartition(".")[0]
            assert inner, f"{name}: import from the room, not from the public facade"
            yield inner


def room(module):
    return module.split(".")[0]


def test_there_are_modules_to_check():
    assert len(MODULES) > 30
    assert {"racing.race", "stats.joint", "deciders.f_race", "run.race"} <= set(MODULES)


def test_every_room_has_a_place_in_the_order():
    assert {room(module) for module in MODULES} <= set(ORDER)


def run_by(name, tree):
    """The modules whose code must have run before a module can be imported.

    Importing racer.a.b runs the `__init__` of racer and racer.a first, unless that is where we
    are; `from racer.a import b` asks racer.a for b even then. The facade is "racer".
    """
    asked = {
        node.module.removeprefix("racer").lstrip(".") or "racer"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "racer"
    }
    asked |= {inner for inner in inner_imports(tree) if inner != name}
    for inner in list(asked):
        parts = inner.split(".")
        packages = {".".join(parts[:n]) for n in range(1, len(parts))}
        asked |= {p for p in packages if not f"{name}.".startswith(f"{p}.")}
    return asked


def import_graph(trees, facade):
    """The modules of the package and its facade, each with those that must run before it."""
    graph = {name: run_by(name, tree) for name, tree in trees.items()}
    return {**graph, "racer": set(inner_imports(facade))}


FACADE = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))


def test_no_import_cycle():
    assert list(graphlib.TopologicalSorter(import_graph(MODULES, FACADE)).static_order())


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("space.sampling", "from racer.space.space import Space"),
        ("space.sampling", "from racer.space import vectors"),
        ("space.sampling", "from racer.space import Space"),
        ("space.irace.r_syntax", "from racer.space import vectors"),
        ("stats.ranks", "from racer import space"),
        ("stats.ranks", "import racer.comparison.choices, racer.comparison.compare"),
    ],
)
def test_a_cycle_would_be_found(module, code):
    assert module in MODULES
    cyclic = {**MODULES, module: ast.parse(code)}
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter(import_graph(cyclic, FACADE)).prepare()


@pytest.mark.parametrize("module", MODULES)
def test_imports_only_go_left(module):
    here = ORDER.index(room(module))
    for name in inner_imports(MODULES[module]):
        assert ORDER.index(room(name)) <= here, f"{module} imports {name}"
        if room(module) == "stats":
            assert room(name) in STATS_MAY_IMPORT, f"{module} imports {name}"


def test_nothing_imports_the_integrations():
    for module, tree in MODULES.items():
        used = {room(name) for name in inner_imports(tree)} - {room(module)}
        assert "integrations" not in used, module


@pytest.mark.parametrize("module", MODULES)
def test_the_outside_is_touched_only_where_it_may_be(module):
    used = {name.split(".")[0] for name in imports(MODULES[module])} & OUTSIDE
    if room(module) in {"report", "comparison"}:
        used -= TERMINAL
    assert not used or module.startswith(MAY_TOUCH_OUTSIDE), f"{module} imports {used}"


@pytest.mark.parametrize("module", MODULES)
def test_no_code_from_data(module):
    tree = MODULES[module]
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    imported = set(imports(tree))
    assert not (names | imported) & NEVER
    assert not {name.split(".")[0] for name in imported} & NEVER_IMPORTED
    assert "importlib.import_module" not in imported


@pytest.mark.parametrize("module", MODULES)
def test_nothing_is_unpickled_and_no_shell_is_used(module):
    for node in ast.walk(MODULES[module]):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            last = called.rpartition(".")[2]
            assert last not in NEVER_CALLED, called
            assert last not in {"load", "loads"} or called == "json.loads", called
            shell = [word for word in node.keywords if word.arg == "shell"]
            assert not shell, called


def test_tests_mirror_the_tree():
    rooms = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "_"}
    here = {path.name for path in TESTS.iterdir() if path.is_dir()}
    assert rooms - here == set()


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: path.name)
def test_tests_import_nothing_from_a_package_tests(path):
    """Other distributions install a package of that name; `tests/tools` is on the path."""
    used = set(imports(ast.parse(path.read_text(encoding="utf-8"))))  # refuses relative imports
    assert "tests" not in {name.split(".")[0] for name in used}


def test_worker_processes_find_nothing_in_a_package_tests():
    """So what they get by name is in `tests/tools`, whatever else is installed."""
    found = PathFinder.find_spec("tests", sys.path)
    assert found is not None
    assert found.origin == str(TESTS / "tools" / "tests.py")
