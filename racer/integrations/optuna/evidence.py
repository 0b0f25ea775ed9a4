"""Which trial of a study is really best."""


class Evidence: ...


def best_trials_by_evidence(): ...
