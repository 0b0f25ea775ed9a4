"""The zip file of a bundle: known names, nothing compressed, fixed dates.

So it cannot grow when it is read, no name leads anywhere, and a byte that differs is noticed.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_BYTES = 256_000_000
MANIFEST = "manifest.json"
_NAMES = ("run.db", "scenario.toml", "report.html", MANIFEST)
_OF_ZIPFILE = (NotImplementedError, RuntimeError, EOFError, OverflowError, IndexError)
_END = 22  # bytes of a zip file's last record


def packed(members: Mapping[str, bytes]) -> bytes:
    """Return the zip file of these members, which is the same for the same members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as file:
        for name in sorted(members):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o644 << 16
            file.writestr(info, members[name])
    return buffer.getvalue()


def unpacked(data: bytes) -> dict[str, Any]:
    """Return the members of a bundle, the manifest decoded; ValueError for one that was changed."""
    end = data[-_END:]
    largest = len(_NAMES) * 100  # bytes of a directory; larger files than these have another mark
    is_end = end[:4] == b"PK\5\6" and data[-_END - 20 :][:4] != b"PK\6\7"
    if not is_end or int.from_bytes(end[12:16], "little") > largest:
        raise ValueError("it is not a bundle")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            infos = file.infolist()
            if any(i.compress_type or i.file_size > len(data) for i in infos):
                raise ValueError("something in it is compressed")
            members: dict[str, Any] = {i.filename: file.read(i) for i in infos}
    except (zipfile.BadZipFile, struct.error, OSError, *_OF_ZIPFILE) as error:
        raise ValueError(f"it cannot be read ({error})") from error
    if not {"run.db", MANIFEST} <= set(members) <= set(_NAMES) or packed(members) != data:
        raise ValueError("it is not as racer.bundle wrote it")
    try:
        manifest = members[MANIFEST] = json.loads(members[MANIFEST])
        hashes, files = manifest["sha256"], manifest["files"]
        is_sound = all(isinstance(text, str) for text in (manifest["folder"], *files.values()))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("its manifest makes no sense") from error
    if not is_sound:
        raise ValueError("its manifest makes no sense")
    if hashes != hashes_of(members):
        raise ValueError("a file in it is not the one that its manifest names")
    return members


def hashes_of(members: Mapping[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of each member but the manifest."""
    contents = {name: data for name, data in members.items() if name != MANIFEST}
    return {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}


def in_bundle(text: object, store: str) -> str:
    """Return a text about an unpacked store, which is gone afterwards, as one about the bundle."""
    return str(text).replace(f"store {store!r}", "run.db of the bundle").replace(store, "run.db")
