"""Starts kafkish and Apache Kafka and runs `kafkish diff` on them, with the arguments given."""

import sys
import tempfile
from pathlib import Path

import kafkish

sys.path.insert(0, str(Path(kafkish.__file__).parents[1] / "compat-tests"))

import apache_kafka

from kafkish.cli.main import main
from kafkish.tests.diff.test_diff import SETTINGS
from kafkish.tests.diff.test_diff import kafkish as running

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        ours, theirs = Path(place, "kafkish"), Path(place, "kafka")
        ours.mkdir()
        theirs.mkdir()
        with apache_kafka.ApacheKafka(theirs, **SETTINGS) as kafka, running(ours) as port:
            brokers = ["--against", kafka.address, "--broker", f"127.0.0.1:{port}"]
            sys.exit(main(["diff", *brokers, *sys.argv[1:]]))
