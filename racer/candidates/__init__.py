"""Who is in the race."""

from racer.candidates.pool import as_pool, as_sequence, canonical_key

__all__ = ["as_pool", "as_sequence", "canonical_key"]
