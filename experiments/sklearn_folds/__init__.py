"""Racing over folds on real data: fits, time and held-out scores beside other searches."""
