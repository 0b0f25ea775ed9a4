"""File operations that fail when a test says so: SQLite's own system calls, and Python's.

SQLite lets its system calls be replaced (xSetSystemCall, made for this), and its files' methods
be wrapped by another VFS: needed for the sync, which is not among the calls. Both are reached
through ctypes in the library that the sqlite3 module uses. Python's operations (those of filelock
and pathlib) are replaced in `os` and `fcntl`, and count if they are about the folder.

With all that, every operation on the files of a store has a number, and `Faults.at(number)`
makes that one fail. (They are those that strace sees, but for the sync of a directory, whose
result SQLite does not look at.)
"""

import _sqlite3
import ctypes
import errno
import fcntl
import os
import struct
import sys
from contextlib import contextmanager

INT, LONG, SIZE, POINTER, TEXT = (
    *(ctypes.c_int, ctypes.c_ssize_t, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p),
)
READS = (LONG, INT, POINTER, SIZE)
CALLS = {  # result, arguments
    "open": (INT, TEXT, INT, INT),
    "close": (INT, INT),
    "access": (INT, TEXT, INT),
    "stat": (INT, TEXT, POINTER),
    "fstat": (INT, INT, POINTER),
    "lstat": (INT, TEXT, POINTER),
    "ftruncate": (INT, INT, LONG),
    "fcntl": (INT, INT, INT, POINTER),
    "read": READS,
    "pread": (*READS, LONG),
    "pread64": (*READS, LONG),
    "write": READS,
    "pwrite": (*READS, LONG),
    "pwrite64": (*READS, LONG),
    "fchmod": (INT, INT, INT),
    "fchown": (INT, INT, INT, INT),
    "fallocate": (INT, INT, LONG, LONG),
    "unlink": (INT, TEXT),
    "openDirectory": (INT, TEXT, POINTER),
    "mmap": (LONG, POINTER, SIZE, INT, INT, INT, LONG),
    "readlink": (LONG, TEXT, POINTER, SIZE),
}
NO_FILES = {  # or never used for a store
    *("getcwd", "mkdir", "rmdir", "geteuid", "munmap", "mremap", "getpagesize", "ioctl"),
}
WRITES = {"write", "pwrite", "pwrite64"}
TAKES_ROOM = WRITES | {"ftruncate", "fallocate", "open", "mmap"}
PYTHONS = {
    os: (
        *("open", "close", "stat", "lstat", "fstat", "access", "chmod", "fchmod", "ftruncate"),
        *("unlink", "remove", "rename", "replace", "mkdir", "listdir", "scandir", "truncate"),
        "utime",
    ),
    fcntl: ("flock", "lockf", "fcntl"),
}
IOERR_FSYNC = 10 | 4 << 8
METHODS = 18  # pointers in sqlite3_io_methods, up to version 3
SYNC = 4


class Vfs(ctypes.Structure):
    """sqlite3_vfs."""


OPEN = ctypes.CFUNCTYPE(INT, ctypes.POINTER(Vfs), POINTER, POINTER, INT, POINTER)
SLEEP = ctypes.CFUNCTYPE(INT, ctypes.POINTER(Vfs), INT)
SET_CALL = ctypes.CFUNCTYPE(INT, ctypes.POINTER(Vfs), TEXT, POINTER)
GET_CALL = ctypes.CFUNCTYPE(POINTER, ctypes.POINTER(Vfs), TEXT)
NEXT_CALL = ctypes.CFUNCTYPE(TEXT, ctypes.POINTER(Vfs), TEXT)
Vfs._fields_ = [
    *(("version", INT), ("file_size", INT), ("longest_path", INT), ("next", POINTER)),
    *(("name", TEXT), ("data", POINTER), ("open", OPEN)),
    *((f"unused{i}", POINTER) for i in range(8)),
    ("sleep", SLEEP),
    *((f"unused{i}", POINTER) for i in range(8, 11)),
    *(("set_call", SET_CALL), ("get_call", GET_CALL), ("next_call", NEXT_CALL)),
]
SYNC_METHOD = ctypes.CFUNCTYPE(INT, POINTER, INT)


class Methods(ctypes.Structure):
    """sqlite3_io_methods."""

    _fields_ = (("version", INT), ("methods", POINTER * METHODS))


def _lock(_, command, lock):
    """Return what is asked of which lock."""
    return command, struct.unpack("hhq", ctypes.string_at(lock, 16)) if lock else ()


def _lines():
    """Return the lines that are being executed, from the one here to that which calls racer."""
    frame, lines, outermost = sys._getframe(), [], 0
    while frame := frame.f_back:
        lines.append((frame.f_code, frame.f_lineno))
        if frame.f_globals["__name__"].partition(".")[0] == "racer":
            outermost = len(lines)
    return tuple(lines[:outermost])


class Faults:
    """Counts file operations, and lets one fail.

    Parameters
    ----------
    folder : path
        Of the files that count.

    Attributes
    ----------
    done : list of str
        The operations since the last `at`.
    places : list of tuple
        Where each of them is done, if none was to fail: its name, for a lock which one, and the
        lines of racer, and of what it calls, that lead to it.

    Raises
    ------
    AttributeError
        This Python's SQLite is built in, and shows nothing.
    """

    def __init__(self, folder):
        self.folder = os.path.realpath(folder)
        self.done = []
        self.failed = False
        self._armed = False
        self._at, self._how = 0, ""
        self._kept = []  # what C points to
        self._methods = {}
        self._library = ctypes.CDLL(_sqlite3.__file__)
        self._library.sqlite3_vfs_find.restype = ctypes.POINTER(Vfs)

    @contextmanager
    def at(self, number, how="EIO"):
        """Let the n-th operation fail.

        Parameters
        ----------
        number : int
            From 1; 0 for none.
        how : str
            "EIO": this one. "EIO, and from then on": all that follow, too. "ENOSPC, and from then
            on": this is the last write, and half of it, for which there is room. "crash": the
            process ends.
        """
        self._at, self._how, self.failed = number, how, False
        self.done, self.places = [], []
        self._armed = True
        try:
            yield
        finally:
            self._armed = False

    def _error(self, name, lock=()):
        """Count an operation; return the error that it meets, or 0."""
        if not self._armed:
            return 0
        self.done.append(name)
        if not self._at:
            self.places.append((name, lock, _lines()))
            return 0
        if len(self.done) < self._at:
            return 0
        first = len(self.done) == self._at
        if self._how == "crash":
            os._exit(9)
        if not first and "from then on" not in self._how:
            return 0
        if self._how.startswith("ENOSPC"):
            self.failed |= name in TAKES_ROOM
            return errno.ENOSPC if name in TAKES_ROOM else 0
        self.failed = True
        return errno.EIO

    @contextmanager
    def installed(self):
        """Replace the calls; no connection may be open before, nor after."""
        library = self._library
        vfs = library.sqlite3_vfs_find(None)
        before = self._replace_calls(vfs)
        faulty = Vfs.from_buffer_copy(vfs.contents)
        faulty.name, faulty.next = b"faulty", None
        faulty.open = OPEN(lambda _, *args: self._open(vfs, *args))
        faulty.sleep = SLEEP(lambda _, microseconds: microseconds)  # between tries for a lock
        self._kept.append(faulty)
        library.sqlite3_vfs_register(ctypes.byref(faulty), 1)
        put_back = [
            self._replace_python(module, name) for module in PYTHONS for name in PYTHONS[module]
        ]
        try:
            yield self
        finally:
            for restore in put_back:
                restore()
            library.sqlite3_vfs_unregister(ctypes.byref(faulty))
            library.sqlite3_vfs_register(vfs, 1)
            for name, address in before.items():
                vfs.contents.set_call(vfs, name, address)

    def _replace_calls(self, vfs):
        before, name = {}, None
        while name := vfs.contents.next_call(vfs, name):
            call = name.decode()
            if call in NO_FILES:
                continue
            before[name] = address = vfs.contents.get_call(vfs, name)
            result, *arguments = CALLS[call]
            kind = ctypes.CFUNCTYPE(result, *arguments, use_errno=True)
            replaced = kind(self._replaced(call, kind(address)))
            self._kept.append(replaced)
            vfs.contents.set_call(vfs, name, ctypes.cast(replaced, POINTER))
        return before

    def _replaced(self, name, original):
        def call(*args):
            error = self._error(name, _lock(*args) if name == "fcntl" else ())
            if not error:
                return original(*args)
            if name == "close":  # as Linux does
                original(*args)
            if error == errno.ENOSPC and len(self.done) == self._at and name in WRITES:
                descriptor, data, size, *rest = args
                return original(descriptor, data, size // 2, *rest)
            ctypes.set_errno(error)
            return -1

        return call

    def _open(self, vfs, path, file, flags, flags_out):
        code = vfs.contents.open(vfs, path, file, flags, flags_out)
        slot = POINTER.from_address(file)
        if code == 0 and slot.value:
            if slot.value not in self._methods:
                methods = Methods.from_buffer_copy(Methods.from_address(slot.value))
                replaced = SYNC_METHOD(self._synced(SYNC_METHOD(methods.methods[SYNC])))
                methods.methods[SYNC] = ctypes.cast(replaced, POINTER).value
                self._kept += [methods, replaced]
                self._methods[slot.value] = ctypes.addressof(methods)
            slot.value = self._methods[slot.value]
        return code

    def _synced(self, original):
        def sync(file, flags):
            error = self._error("sync")
            return IOERR_FSYNC if error else original(file, flags)

        return sync

    def _replace_python(self, module, name):
        original = getattr(module, name)

        def call(*args, **kwargs):
            if self._armed and args and self._counts(args[0]):
                error = self._error(f"{module.__name__}.{name}")
                if error:
                    if name == "close":
                        original(*args)
                    named = () if isinstance(args[0], int) else (os.fspath(args[0]),)
                    raise OSError(error, os.strerror(error), *named)
            return original(*args, **kwargs)

        setattr(module, name, call)
        return lambda: setattr(module, name, original)

    def _counts(self, where):
        self._armed = False  # what is asked here does not count
        try:
            if isinstance(where, int):
                where = os.readlink(f"/proc/self/fd/{where}")  # noqa: PTH115
            return os.fspath(where).startswith(self.folder)
        except (OSError, TypeError, AttributeError):
            return False
        finally:
            self._armed = True
