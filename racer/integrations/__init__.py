"""racer inside other frameworks: nothing else of racer imports this room."""
