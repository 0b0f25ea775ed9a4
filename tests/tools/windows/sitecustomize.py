"""Python as racer finds it on Windows, on any system: put this folder on PYTHONPATH.

The modules of racer and of its tests see no module, function or constant that only Unix has, and
`sys.platform` is "win32" to them. Other packages see the system as it is: on Windows they have
code of their own. Worker processes inherit PYTHONPATH, and so this view.
"""

import builtins
import errno
import fcntl
import importlib
import os
import types

from unix_only import HIDDEN, MODULES

SEEN_BY = {"racer", "tests"}
O_BINARY = 0x8000  # on Linux it changes nothing


def _open(path, flags, *more, **named):
    assert flags & O_BINARY, "Windows would take \\r\\n for the end of a line"
    return os.open(path, flags, *more, **named)


def _fsync(descriptor):
    if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(errno.EBADF, "Windows syncs only what is open for writing")
    os.fsync(descriptor)


OTHERS = {
    "os": {"name": "nt", "O_BINARY": O_BINARY, "open": _open, "fsync": _fsync},
    "sys": {"platform": "win32"},
}


class _Narrowed(types.ModuleType):
    """A module without some of its names.

    What is set is set in the module itself, but for functions that have another one in their place.
    """

    def __init__(self, module):
        super().__init__(module.__name__)
        vars(self).update(_real=module, __doc__=module.__doc__)

    def __getattr__(self, name):
        if name in HIDDEN.get(self.__name__, ()):
            raise AttributeError(f"module {self.__name__!r} has no {name!r} on Windows", name=name)
        others = OTHERS.get(self.__name__, {})
        return others[name] if name in others else getattr(self._real, name)

    def __setattr__(self, name, value):
        if callable(OTHERS.get(self.__name__, {}).get(name)):
            vars(self)[name] = value
        else:
            setattr(self._real, name, value)

    def __delattr__(self, name):
        if name in vars(self):
            del vars(self)[name]
        else:
            delattr(self._real, name)


_NARROWED = {name: _Narrowed(importlib.import_module(name)) for name in {*HIDDEN, *OTHERS}}
_import = builtins.__import__


def _import_as_on_windows(name, globals=None, locals=None, fromlist=(), level=0):  # noqa: A002
    if level == 0 and (globals or {}).get("__name__", "").partition(".")[0] in SEEN_BY:
        top = name.partition(".")[0]
        if top in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r} on Windows", name=name)
        if name in _NARROWED or (top in _NARROWED and not fromlist):  # `import os.path` binds os
            return _NARROWED[top]
    return _import(name, globals, locals, fromlist, level)


builtins.__import__ = _import_as_on_windows
