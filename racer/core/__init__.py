"""The values of a contest: rules, budget, blocks, table, events."""
