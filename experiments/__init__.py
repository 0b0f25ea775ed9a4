"""The published tables, one package each: settings, published numbers, comparison."""
