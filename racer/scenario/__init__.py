"""What a user writes in files, as arguments of `racer.tune`: nothing is decided here."""
