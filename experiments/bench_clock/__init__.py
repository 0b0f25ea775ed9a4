"""Which program is faster, on clocks that drift: false claims, and what they cost."""
