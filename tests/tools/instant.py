"""An event loop without waiting, for tests of coroutines."""

import asyncio
from contextlib import contextmanager

from racer.evaluate import coroutines


class InstantLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer as soon as nothing else is to be done."""

    def __init__(self):
        super().__init__()
        self.now = 0.0
        self._select, self._selector.select = self._selector.select, self._jump

    def _jump(self, timeout=None):
        if not timeout:
            return self._select(timeout)
        events = self._select(0)
        if not events:
            self.now += timeout
        return events

    def time(self):
        return self.now


@contextmanager
def instant_loop(monkeypatch):
    """Give races such a loop, of which they leave no task; the one before is put back."""
    loop = InstantLoop()
    monkeypatch.setattr(coroutines, "_threads", [])
    monkeypatch.setattr(asyncio, "new_event_loop", lambda: loop)
    assert coroutines.event_loop() is loop
    ((thread, _),) = coroutines._threads
    yield loop
    left = asyncio.run_coroutine_threadsafe(_left(), loop).result(60)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()
    assert not left


async def _left():
    """Return the tasks that do not end now."""
    for _ in range(100):
        await asyncio.sleep(0)
    return asyncio.all_tasks() - {asyncio.current_task()}
