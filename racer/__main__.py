"""`python -m racer`."""

from racer.cli import main

main(prog_name="racer")
