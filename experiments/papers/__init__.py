"""Four papers, item by item: what each call of racer gives beside what they print."""
