"""Replaces a small file as a whole: after a crash it is the old one or the new one."""

from kafkish_storage.files.port import Files


def write_atomically(files: Files, path: str, data: bytes) -> None:
    """Replace the file, durably. Any thread, one at a time for a path."""
    replace_file(files, path, data)
    files.sync_directory(path.rpartition("/")[0] or "/")


def replace_file(files: Files, path: str, data: bytes) -> None:
    """Write beside the file, sync, rename over it. Which of the two has the name is durable with its directory."""
    temporary = path + ".tmp"
    files.remove(temporary)
    file = files.open(temporary, create=True)
    try:
        file.write(0, [data], len(data))
        file.sync()
    finally:
        file.close()
    files.rename(temporary, path)
