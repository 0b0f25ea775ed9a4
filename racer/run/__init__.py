"""Running a race: the room with clocks, processes and a terminal."""
