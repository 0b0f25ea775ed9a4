"""The hierarchical model of folds on many data sets: how often it errs, how near it comes."""
