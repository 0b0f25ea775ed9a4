"""The rooms: no import cycle, imports only go left, side effects only where they belong."""

import ast
import graphlib
import re
import tokenize
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent / "racer"

# A room may import from rooms before it.
ORDER = (
    "errors",
    "_checks",
    "_entry",
    "_files",
    "seeding",
    "_numerics",
    "failures",
    "direction",
    "render",
    "plots",
    "stats",
    "space",
    "evaluate",
    "deciders",
    "comparison",
    "model",
    "core",
    "results",
    "racing",
    "simulate",
    "tuner",
    "store",
    "run",
    "testing",
    "integrations",
    "scenario",
    "cli",
)
STATS_MAY_IMPORT = {
    "errors",
    "_checks",
    "_entry",
    "_numerics",
    "seeding",
    "failures",
    "plots",
    "stats",
}
OUTSIDE = {
    *("os", "signal", "subprocess", "multiprocessing", "threading", "socket", "shutil"),
    *("tempfile", "pathlib", "sqlite3", "time", "datetime", "joblib", "rich", "click"),
    *("filelock", "platform", "resource", "io", "fcntl", "asyncio"),
}
MAY_TOUCH_OUTSIDE = (
    *(
        "_files",
        "plots._canvas",  # bytes of a picture, in memory
        "render.html",
        "evaluate.attempt",
        "evaluate.batches",
        "evaluate.process_state",
        "evaluate.workers",
        "evaluate.loky",
        "evaluate.coroutines",
        "evaluate.actors",
        "evaluate.engines",
        "evaluate.executor",
        "evaluate.transport",
        "evaluate.limits",
        "evaluate.command",
        "simulate.play",
        "store",
        "run",
        "integrations.hydra",  # the folder of a multirun
        "integrations.sklearn",  # joblib's digest of the data of a search
        "scenario",
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
UNPICKLES = "evaluate.transport"  # what a worker and its driver sent each other
NEVER_CALLED = {"system", "popen", "read_pickle", "getoutput", "getstatusoutput", "import_module"}
IMPORTS_BY_NAME = "cli.commands: import_module"  # the names stand in it


def nodes(path):
    """Return all nodes of the syntax tree of a file."""
    with tokenize.open(path) as source:
        return list(ast.walk(ast.parse(source.read(), str(path))))


@pytest.fixture(scope="module")
def modules():
    """Every module of the package by its name within it; the public facade is not a room."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        if parts and parts != ("__main__",):
            found[".".join(parts)] = nodes(path)
    return found


@pytest.fixture(scope="module")
def graph(modules):
    return import_graph(modules)


def imports(nodes):
    """All modules imported anywhere in a file, `from a import b` as a.b."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def inner_imports(nodes, modules):
    """The modules of this package that a file imports."""
    for name in imports(nodes):
        if name.split(".")[0] == "racer":
            inner = name.removeprefix("racer").lstrip(".")
            while inner and inner not in modules:
                inner = inner.rpartition(".")[0]
            assert inner, f"{name}: import from the room, not from the public facade"
            yield inner


def room(module):
    return module.split(".")[0]


def test_every_room_has_a_place_in_the_order(modules):
    assert {room(module) for module in modules} <= set(ORDER)


def run_by(name, modules):
    """The modules whose code must have run before a module can be imported.

    Importing racer.a.b runs the `__init__` of racer and racer.a first, unless that is where we
    are; `from racer.a import b` asks racer.a for b even then. The facade is "racer".
    """
    asked = {
        node.module.removeprefix("racer").lstrip(".") or "racer"
        for node in modules[name]
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "racer"
    }
    asked |= {inner for inner in inner_imports(modules[name], modules) if inner != name}
    for inner in list(asked):
        parts = inner.split(".")
        packages = {".".join(parts[:n]) for n in range(1, len(parts))}
        asked |= {p for p in packages if not f"{name}.".startswith(f"{p}.")}
    return asked


def import_graph(modules):
    """The modules of the package and its facade, each with those that must run before it."""
    graph = {name: run_by(name, modules) for name in modules}
    return {**graph, "racer": set(inner_imports(nodes(ROOT / "__init__.py"), modules))}


def test_no_import_cycle(graph):
    assert list(graphlib.TopologicalSorter(graph).static_order())


def test_imports_only_go_left(modules):
    for module, nodes in modules.items():
        here = ORDER.index(room(module))
        for name in inner_imports(nodes, modules):
            assert ORDER.index(room(name)) <= here, f"{module} imports {name}"
            if room(module) == "stats":
                assert room(name) in STATS_MAY_IMPORT, f"{module} imports {name}"


def test_nothing_imports_the_integrations(modules):
    for module, nodes in modules.items():
        used = {room(name) for name in inner_imports(nodes, modules)} - {room(module)}
        assert "integrations" not in used, module


def test_the_outside_is_touched_only_where_it_may_be(modules):
    for module, nodes in modules.items():
        used = {name.split(".")[0] for name in imports(nodes)} & OUTSIDE
        if room(module) in {"render", "comparison"}:
            used -= TERMINAL
        assert not used or module.startswith(MAY_TOUCH_OUTSIDE), f"{module} imports {used}"


def test_no_code_from_data(modules):
    for module, nodes in modules.items():
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        imported = set(imports(nodes)) - ({"pickle"} if module == UNPICKLES else set())
        assert not (names - {"pickle"} | imported) & NEVER, module
        assert not {name.split(".")[0] for name in imported} & NEVER_IMPORTED, module


def test_nothing_is_unpickled_and_no_shell_is_used(modules):
    for module, nodes in modules.items():
        for node in nodes:
            if isinstance(node, ast.Call):
                last = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
                called = f"{module}: {last}"
                assert last not in NEVER_CALLED or called == IMPORTS_BY_NAME, called
                if last in {"load", "loads"}:
                    own = {"pickle.loads", "joblib.load"}
                    unpickles = own if module == UNPICKLES else set()
                    assert ast.unparse(node.func) in {"json.loads", "tomllib.loads"} | unpickles, (
                        called
                    )
                assert "shell" not in {word.arg for word in node.keywords}, called


def test_tests_mirror_the_tree():
    rooms = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "_"}
    here = {path.name for path in TESTS.iterdir() if path.is_dir()}
    assert rooms - here == set()


def test_tests_import_nothing_from_a_package_tests():
    """Other distributions install a package of that name; `tests/tools` is on the path."""
    ours = re.compile(r"^\s*(from (tests\b|\.)|import (.*,\s*)?tests\b)", re.MULTILINE)
    for path in TESTS.rglob("*.py"):
        assert not ours.search(path.read_text(encoding="utf-8")), path
    assert all(map(ours.search, ("from tests.a import b", "import a, tests", "from . import a")))


# -- how large things may become

ENGINE = ("core", "racing", "tuner", "store", "run", "evaluate")
MOST_ATTRIBUTES = 15


def own_attributes(node):
    """Return the attributes of instances that a class sets or declares."""
    declared = {
        inner.target.id
        for inner in node.body
        if isinstance(inner, ast.AnnAssign) and "ClassVar" not in ast.unparse(inner.annotation)
    } - {"_"}
    targets = [
        target
        for inner in ast.walk(node)
        if isinstance(inner, ast.Assign | ast.AnnAssign)
        for given in (inner.targets if isinstance(inner, ast.Assign) else [inner.target])
        for target in (given.elts if isinstance(given, ast.Tuple) else [given])
    ]
    return declared | {
        target.attr
        for target in targets
        if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self"
    }


def methods(node, *, concrete=False):
    """Return the names of the methods of a class, of the concrete ones alone if asked."""
    return {
        inner.name
        for inner in node.body
        if isinstance(inner, ast.FunctionDef)
        and not (concrete and any("abstract" in ast.unparse(d) for d in inner.decorator_list))
    }


@pytest.fixture(scope="module")
def classes(modules):
    """The classes of the engine's rooms by name, with the names of their bases."""
    return {
        node.name: (node, [ast.unparse(base).partition("[")[0] for base in node.bases])
        for module, nodes in modules.items()
        if room(module) in ENGINE
        for node in nodes
        if isinstance(node, ast.ClassDef)
    }


def test_no_class_of_the_engine_has_too_many_attributes(classes):
    assert {"State", "Race", "Tuner", "History", "Store"} <= set(classes)
    for name, (node, bases) in classes.items():
        inherited = set().union(*(own_attributes(classes[b][0]) for b in bases if b in classes))
        assert len(own_attributes(node) | inherited) <= MOST_ATTRIBUTES, name


def test_no_concrete_method_of_the_engine_is_overridden(classes):
    for name, (node, bases) in classes.items():
        for base in bases:
            if base in classes and "Protocol" not in classes[base][1]:
                again = methods(node) & methods(classes[base][0], concrete=True)
                assert again <= {"__init__"}, f"{name} overrides {again} of {base}"
