"""What is said of a result: as text, in a notebook, as a page. Knows no race."""
