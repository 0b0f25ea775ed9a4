"""The order of the tests: those that take longest begin first, so that none of them ends last."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
LONG = ()


def pytest_collection_modifyitems(items):
    place = {HERE / name: i for i, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path, len(place)))
