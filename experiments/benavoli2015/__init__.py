"""The tables of Benavoli, Mangili, Corani, Zaffalon (ICML 2015), rerun."""
