"""Compare four papers with racer, item by item: results of calls beside printed figures."""
