"""Replaces a small file as a whole: after a crash it is the old one or the new one."""

from kafkish_storage.files.port import Files


def write_atomically(files: Files, path: str, data: bytes) -> None:
    """Write beside the file, sync, rename over it, sync the directory. Any thread, one at a time for a path."""
    temporary = path + ".tmp"
    files.remove(temporary)
    file = files.open(temporary, create=True)
    try:
        file.write(0, [data], len(data))
        file.sync()
    finally:
        file.close()
    files.rename(temporary, path)
    files.sync_directory(path.rpartition("/")[0] or "/")
