"""Throws bytes at every decoder, guided by the branches that they reach (atheris, libFuzzer).

    python -m kafkish_protocol.tests.fuzz --seconds 60

The first two bytes choose a message and version, or record batches; the rest is the frame. Whatever the bytes are, the
outcome is a value, and then writing and reading it gives the same value again, or a CodecError. Anything else stops
the run and leaves the bytes in a file.
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports():
    from kafkish_protocol.errors import CodecError
    from kafkish_protocol.records import Compression, Record, build_batch, read_batches
    from kafkish_protocol.tests.catalog import all_versions
    from kafkish_protocol.tests.samples import sample

VERSIONS = all_versions()
DECODERS: dict[int, Any] = {}
RECORDS_LIMIT_BYTES = 1_000_000


def fuzz_one(data: bytes) -> None:
    """One input."""
    choice, frame = int.from_bytes(data[:2], "big") % (len(VERSIONS) + 1), data[2:]
    try:
        if choice == len(VERSIONS):
            for batch in read_batches(frame):
                for _ in batch.records(RECORDS_LIMIT_BYTES):
                    pass
        else:
            fuzz_message(choice, frame)
    except CodecError:
        pass


def fuzz_message(choice: int, frame: bytes) -> None:
    """Read a frame as one message; if it is one, it must survive the way out and back."""
    kind, version = VERSIONS[choice]
    if choice not in DECODERS:
        DECODERS[choice] = atheris.instrument_func(kind.schema.decoders[version])
    message, _ = DECODERS[choice](frame, 0)
    again = kind.decode(message.encode(version), version)
    assert again == message or "nan" in repr(message), (message, again)


def write_seeds(directory: Path) -> None:
    """Valid frames, from which the fuzzer starts."""
    dice = random.Random(1)
    for choice, (kind, version) in enumerate(VERSIONS):
        frame = sample(kind, version, dice).encode(version)
        (directory / f"{choice}").write_bytes(choice.to_bytes(2, "big") + frame)
    for codec in Compression:
        batch = build_batch([Record(n, n, b"key", b"value" * n, [("h", b"v")]) for n in range(5)], compression=codec)
        (directory / codec.name).write_bytes(len(VERSIONS).to_bytes(2, "big") + batch)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    options, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as seeds:
        write_seeds(Path(seeds))
        limits = [f"-max_total_time={options.seconds}", "-max_len=100000", "-rss_limit_mb=2048", "-timeout=5"]
        atheris.Setup([sys.argv[0], seeds, *limits, "-print_final_stats=1", *rest], fuzz_one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
