"""The source of an objective, by which a store notices that it has changed."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import textwrap
from typing import Any

from racer.evaluate.command.command import Command
from racer.evaluate.pace import own_objective
from racer.evaluate.recorded import RecordedScores

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def source_digest(evaluate: Any) -> str | None:
    """Return a SHA-256 of a function's, or an object's class's, source; None without one.

    Comments and layout are not part of it, nor is what the function calls. Of a program, of the
    files that its command begins with.
    """
    while isinstance(evaluate := own_objective(evaluate), functools.partial):
        evaluate = evaluate.func
    if isinstance(evaluate, Command):
        return evaluate.source_digest
    if isinstance(evaluate, RecordedScores):
        return None
    evaluate = inspect.unwrap(evaluate)
    tree = source_tree(evaluate if inspect.isroutine(evaluate) else type(evaluate))
    if tree is None or not isinstance(tree.body[0], _DEFINITIONS):
        return None  # a lambda, beside which anything else may stand
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()


def source_tree(item: Any) -> ast.Module | None:
    """Return the parsed source of a function, its code or a class; None if it cannot be had."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(item)))
    except (OSError, TypeError, SyntaxError, RecursionError):  # typed, or a lambda within a call
        return None
