"""Randomness as a function of its purpose, never of the time of drawing."""

from __future__ import annotations

import secrets
import zlib
from functools import lru_cache

import numpy as np

from racer._checks import whole

__all__ = ["bits_for", "block_seed", "check_seed", "rng_for", "seed_for"]

_CHUNK = 256


def check_seed(seed: int | None) -> int:
    """Return `seed` as a plain non-negative int; None draws fresh entropy (31 bits)."""
    if seed is None:
        return secrets.randbits(31)
    return whole(seed, "seed", least=0)


def _sequence(seed: int, key: tuple[int | str, ...]) -> np.random.SeedSequence:
    words = tuple(zlib.crc32(k.encode()) if isinstance(k, str) else k for k in key)
    return np.random.SeedSequence(entropy=seed, spawn_key=words)


def bits_for(seed: int, *key: int | str) -> np.random.PCG64:
    """Return the bit generator of `key`; that alone is made in half the time."""
    return np.random.PCG64(_sequence(seed, key))


def rng_for(seed: int, *key: int | str) -> np.random.Generator:
    """Return the generator of `key`, such as ("draws", 17): same seed and key, same numbers."""
    return np.random.Generator(bits_for(seed, *key))


def seed_for(seed: int, *key: int | str) -> int:
    """Return the 31-bit seed that belongs to `key`."""
    return int(_sequence(seed, key).generate_state(1)[0] >> 1)


@lru_cache(maxsize=64)
def _block_seeds(seed: int, chunk: int) -> tuple[int, ...]:
    rng = rng_for(seed, "blocks", chunk)
    return tuple(rng.integers(0, 2**31 - 1, size=_CHUNK).tolist())


def block_seed(seed: int, block: int) -> int:
    """Return the seed of one block (0 <= seed < 2**31 - 1), the same for every candidate."""
    return _block_seeds(seed, block // _CHUNK)[block % _CHUNK]
