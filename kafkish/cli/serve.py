"""`kafkish serve`: a broker in this process, until it is told to stop."""

import argparse
import asyncio
import logging
import secrets
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from kafkish import __version__, clock
from kafkish.broker import Address, Broker
from kafkish.handlers.registry import Node
from kafkish_protocol.types import Uuid
from kafkish_protocol.uuids import format_uuid


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what `serve` takes."""
    parser.add_argument("--listen", type=parse_address, default="127.0.0.1:9092", metavar="HOST:PORT",
                        help="where to listen; port 0 picks a free one (default: %(default)s)")  # fmt: skip
    parser.add_argument("--data-dir", type=Path, default=Path("data"), metavar="DIR",
                        help="where the data is kept (default: ./%(default)s)")  # fmt: skip
    parser.add_argument("--verbose", action="store_true", help="also log closed connections and their reasons")


def parse_address(text: str) -> Address:
    """Read `host:port`; an IPv6 host stands in brackets."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT, such as 127.0.0.1:9092")
    return Address(host.strip("[]"), int(port))


def run(options: argparse.Namespace) -> int:
    """Serve until SIGTERM or SIGINT."""
    level = logging.INFO if options.verbose else logging.WARNING
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        try:
            return runner.run(serve(options))
        except OSError as error:
            print(f"kafkish cannot listen on {options.listen}: {error.strerror}. Choose another with --listen.",
                  file=sys.stderr)  # fmt: skip
            return 1


async def serve(options: argparse.Namespace) -> int:
    """Start, say so, wait for a signal, stop."""
    node = Node(1, format_uuid(Uuid(secrets.token_bytes(16))))
    broker = Broker(options.listen, node)
    options.data_dir.mkdir(parents=True, exist_ok=True)
    address = await broker.start()
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    who = f"(node {node.id}, cluster {node.cluster_id})"
    print(f"kafkish {__version__} ready on {address} in {clock.process_age_ms()} ms {who}", flush=True)
    await stopping.wait()
    await broker.stop()
    return 0


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop where it is installed, asyncio's own loop elsewhere."""
    try:
        import uvloop  # noqa: PLC0415  # not on every platform
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory
