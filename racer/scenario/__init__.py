"""Files of users, as arguments of `racer.tune`: nothing is decided here."""
