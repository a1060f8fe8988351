"""`kafkish serve`: a broker in this process, until it is told to stop."""

import argparse
import asyncio
import contextlib
import logging
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from kafkish import __version__, clock
from kafkish.broker import Broker, StartError
from kafkish.cli.arguments import parse_address
from kafkish.config.load import SettingsError, load
from kafkish.config.settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what `serve` takes."""
    parser.add_argument("--config", type=Path, metavar="FILE", help="a server.properties file, as Kafka's")
    parser.add_argument("--listen", type=parse_address, metavar="HOST:PORT",
                        help="where to listen; port 0 picks a free one (default: 127.0.0.1:9092)")  # fmt: skip
    parser.add_argument("--data-dir", metavar="DIR", help="where the data is kept (default: ./data)")
    parser.add_argument("--set", action="append", default=[], dest="overrides", metavar="KEY=VALUE",
                        help="any key of server.properties; may be given many times")  # fmt: skip
    parser.add_argument("--ready-file", type=Path, metavar="FILE", help="write the address here when ready")
    parser.add_argument("--verbose", action="store_true", help="also log closed connections and their reasons")


def run(options: argparse.Namespace) -> int:
    """Serve until SIGTERM or SIGINT."""
    level = logging.INFO if options.verbose else logging.WARNING
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    raise_file_limit()
    try:
        settings = load(options.config, overrides(options))
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            return runner.run(serve(settings, options.ready_file))
    except (SettingsError, StartError) as error:
        print(f"kafkish cannot start: {error}", file=sys.stderr)
        return 1


def raise_file_limit() -> None:
    """Take as many open files as the system lets us have: a partition that is in use has several."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(ValueError, OSError):  # macOS promises more than it gives
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def overrides(options: argparse.Namespace) -> list[str]:
    """The options that are short for keys, as keys; what `--set` says comes later and wins."""
    short = []
    if options.listen is not None:
        short.append(f"listeners=PLAINTEXT://{options.listen}")
    if options.data_dir is not None:
        short.append(f"log.dirs={options.data_dir}")
    return [*short, *options.overrides]


async def serve(settings: Settings, ready_file: Path | None) -> int:
    """Start, say so, wait for a signal, stop."""
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    broker = Broker(settings, on_failure=stopping.set)
    address = await broker.start()
    who = f"(node {broker.node.id}, cluster {broker.node.cluster_id})"
    if ready_file is not None:
        write_whole(ready_file, f"{address}\n")
    print(f"kafkish {__version__} ready on {address} in {clock.process_age_ms()} ms {who}", flush=True)
    await stopping.wait()
    await broker.stop()
    return 1 if broker.failure else 0


def write_whole(path: Path, text: str) -> None:
    """Whoever waits for the file finds all of it."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(text)
    part.replace(path)


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop where it is installed, asyncio's own loop elsewhere."""
    try:
        import uvloop  # noqa: PLC0415  # not on every platform
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory
