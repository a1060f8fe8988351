"""CRC-32C, from the extension module inside the crc32c package.

The package itself, when it is imported, also looks for its own version on disk and loads its command line: 20 ms that a
broker need not spend at each start.
"""

from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Final, Protocol

from kafkish_protocol.varint import Buffer


class Checksum(Protocol):
    """The checksum of bytes; of bytes that follow others, whose checksum is given."""

    def __call__(self, data: Buffer, crc: int = 0, /) -> int: ...


def _find() -> Checksum:
    package = find_spec("crc32c")
    extension = PathFinder.find_spec("_crc32c", package.submodule_search_locations if package else None)
    if extension is None or extension.loader is None:
        from crc32c import crc32c as found  # noqa: PLC0415  # laid out in another way than we know

        return found
    module = module_from_spec(extension)
    extension.loader.exec_module(module)
    function: Checksum = module.crc32c
    return function


crc32c: Final = _find()
