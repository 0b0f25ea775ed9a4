"""Racing."""


def race_study(): ...
