"""The methods of `racer.compare`: each turns scores into a ranking, decisions on pairs, and notes."""
