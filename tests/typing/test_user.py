"""What mypy checks in user.py also runs."""

from __future__ import annotations

import runpy
from pathlib import Path


def test_the_user_code_runs() -> None:
    names = runpy.run_path(str(Path(__file__).with_name("user.py")), run_name="__main__")
    assert callable(names["evaluate"])
