"""Campaigns against the contract of stores and files: hundreds of kills and damaged copies."""
