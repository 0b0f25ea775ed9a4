"""A race that ends, with nothing put in order, in the middle of its store's work."""

from __future__ import annotations

import os

from racer.store import writer


def exit_at(moment, run):
    """Run in a child process that ends, with nothing put in order, at its n-th statement.

    In a transaction one that is repeated counts once: before it is committed, nothing is there.
    Returns whether it did.
    """
    pid = os.fork()
    if pid == 0:
        count, last = 0, ""
        connect = writer.connect

        class Mortal:
            def __init__(self, connection):
                self.connection = connection

            def __getattr__(self, name):
                return getattr(self.connection, name)

            def execute(self, *args):
                nonlocal count, last
                count += args[0] != last or not self.connection.in_transaction
                last = args[0]
                if count == moment:
                    os._exit(9)
                return self.connection.execute(*args)

        writer.connect = lambda *args: Mortal(connect(*args))
        try:
            run()
            os._exit(0)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in (0, 9)
    return code == 9
