"""A real job: ten parameters of a classification pipeline, tuned on four real data sets."""
