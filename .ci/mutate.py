"""Show small errors in a room to its tests: mutation testing on a sample.

    python .ci/mutate.py racer/stats tests/stats --mutants 60 --seed 1

Works in a copy. One run of the tests says which of them reach each line; a mutant is then shown to
those only, the ones that reach the fewest lines first. A survivor is either a gap in the tests or
changes nothing that could be observed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest
from coverage import CoverageData

ROOT = Path(__file__).resolve().parent.parent
PYTEST = ["-q", "-x", "-p", "no:cacheprovider"]
LONGEST = 300  # seconds for the tests of one mutant
TWINS = [(ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot)]
TWINS += [(ast.In, ast.NotIn), (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.And, ast.Or)]
SWAP = {a: b for pair in TWINS for a, b in (pair, pair[::-1])}


def swapped(node: ast.AST) -> ast.AST | None:
    """Return the node with one small error, or None."""
    new = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[first, *rest]) if type(first) in SWAP:
            new.ops = [SWAP[type(first)](), *rest]
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op) if type(op) in SWAP:
            new.op = SWAP[type(op)]()
        case ast.Constant(value=bool(value)):
            new.value = not value
        case ast.Constant(value=int(value) | float(value)):
            new.value = value + 1
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            new = new.operand
        case ast.Name(id="min" | "max" as name):
            new.id = {"min": "max", "max": "min"}[name]
        case _:
            return None
    return ast.copy_location(new, node)


class Mutation(ast.NodeTransformer):
    """Replaces the chosen one of the nodes that can be mutated; annotations are none of them."""

    def __init__(self, chosen: int = -1) -> None:
        self.chosen, self.lines, self.text = chosen, list[int](), ""

    def visit(self, node: ast.AST) -> ast.AST:
        """Return the node, or its mutant if it is the chosen one."""
        new = swapped(node)
        if new is not None:
            self.lines.append(node.lineno)
            if len(self.lines) - 1 == self.chosen:
                self.text = f"{ast.unparse(node)}  ->  {ast.unparse(new)}"
                return new
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Leave annotations alone."""
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Mutate the value only."""
        if node.value is not None:
            node.value = self.visit(node.value)
        return node


def outcome(tests: list[str]) -> str:
    """Return the fate of the mutant that is in place; a fork has the heavy imports already."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        code = 2
        try:
            code = int(pytest.main([*PYTEST, *tests]))
        finally:
            os._exit(code)  # not through the caller's `with`, which would remove the copy
    until = time.monotonic() + LONGEST
    ended, status = os.waitpid(pid, os.WNOHANG)
    while not ended and time.monotonic() < until:
        time.sleep(0.05)
        ended, status = os.waitpid(pid, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # also what the tests left running
    if not ended:
        os.waitpid(pid, 0)
        return "killed, by time"
    code = os.waitstatus_to_exitcode(status)
    return {0: "survived", 1: "killed"}.get(code, f"code {code}")


def main() -> None:
    """Print each mutant with its fate, then the rate."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rooms", help="racer/stats, or several with commas between")
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--mutants", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most-tests", type=int, default=60, help="shown to one mutant")
    asked = parser.parse_args()
    rng = random.Random(asked.seed)  # noqa: S311
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "copy"
        hidden = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache")
        shutil.copytree(ROOT, work, ignore=hidden)
        data = str(Path(folder) / "coverage")
        os.environ |= {"PYTHONPATH": str(work), "COVERAGE_FILE": data}
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # compiled once, not for each mutant
        sys.path.insert(0, str(work))
        os.chdir(work)
        rooms = asked.rooms.split(",")
        cover = [f"--cov={room}" for room in rooms]
        cover += ["--cov-context=test", "--cov-report=", "--cov-fail-under=0"]
        pytest_here = [sys.executable, "-m", "pytest", *PYTEST]
        subprocess.run([*pytest_here, "-n", "2", *cover, *asked.tests], check=True)
        # two mutants within a second have the same date
        os.environ["PYTHONDONTWRITEBYTECODE"], sys.dont_write_bytecode = "1", True
        for heavy in ("joblib", "numpy", "pandas", "rich.live", "scipy.stats"):
            importlib.import_module(heavy)
        reached = CoverageData(data)
        reached.read()
        found = []
        width: Counter[str] = Counter()  # lines that a test reaches
        for path in sorted(path for room in rooms for path in (work / room).rglob("*.py")):
            counting = Mutation()
            counting.visit(ast.parse(path.read_text(encoding="utf-8")))
            tests = reached.contexts_by_lineno(str(path.resolve()))
            width.update(n.partition("|")[0] for names in tests.values() for n in names)
            for chosen, line in enumerate(counting.lines):
                names = sorted({name.partition("|")[0] for name in tests.get(line, ()) if name})
                if names:  # reached by a test, and not when imported only
                    found.append((path, chosen, line, names))
        survivors = 0
        for path, chosen, line, names in rng.sample(found, asked.mutants):
            source = path.read_text(encoding="utf-8")
            mutation = Mutation(chosen)
            path.write_text(ast.unparse(mutation.visit(ast.parse(source))), encoding="utf-8")
            shown = sorted(rng.sample(names, min(len(names), asked.most_tests)), key=width.get)
            fate = outcome(shown)
            path.write_text(source, encoding="utf-8")
            survivors += fate == "survived"
            where = f"{path.relative_to(work)}:{line}"
            print(f"{fate:9} {where}  {mutation.text}  ({len(shown)} tests)", flush=True)
    print(f"{survivors} of {asked.mutants} survived, of {len(found)} that tests reach")


if __name__ == "__main__":
    main()
