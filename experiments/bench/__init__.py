"""What the engine, limits, the store and the statistics take: the figures of docs/speed.md."""
