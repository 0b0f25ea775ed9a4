"""Objectives that are programs."""
