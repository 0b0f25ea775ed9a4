"""The methods of `racer.compare`: each makes of scores a ranking, pairs and what was done."""
