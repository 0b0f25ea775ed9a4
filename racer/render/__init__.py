"""Sections of a report as text, HTML and notebook output. Knows no race."""
