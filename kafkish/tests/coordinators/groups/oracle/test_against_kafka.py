"""The same answers and the same records as Apache Kafka."""

from collections import Counter
from collections.abc import Callable

import pytest

from kafkish.tests.coordinators.groups.oracle.scripts import SCRIPTS, Script
from kafkish.tests.coordinators.groups.oracle.sides import KafkaSide, Oracle, OurSide

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def compared() -> Counter[str]:
    """How many things were, in all scripts."""
    return Counter()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_answers_and_records_equal_those_of_apache_kafka(
    oracle: Oracle, script: Script, compared: Counter[str], show: Callable[[str], None]
) -> None:
    prefix = f"{script.__name__}/"
    theirs, ours = KafkaSide(prefix, oracle.topic_id, oracle.port), OurSide(prefix, oracle.topic_id)
    script(theirs)
    script(ours)
    assert ours.transcript == theirs.transcript
    assert ours.written() == theirs.written()
    compared.update(answers=len(ours.transcript), records=len(ours.written()))
    if script is SCRIPTS[-1]:
        show(f"groups: {compared['answers']} answers and {compared['records']} records as Apache Kafka's")
