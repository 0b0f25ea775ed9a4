"""Running a race: the room with clocks, processes and a terminal."""

from racer.run.drive import drive

__all__ = ["drive"]
