"""A race or a tuning on disk: one SQLite file, written, read and replayed."""
