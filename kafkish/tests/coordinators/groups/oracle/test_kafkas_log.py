"""What Apache Kafka wrote to `__consumer_offsets`, read by our coordinator."""

import pytest

from kafkish.tests.coordinators.groups import requests
from kafkish.tests.coordinators.groups.oracle.scripts import stable
from kafkish.tests.coordinators.groups.oracle.sides import KafkaSide, Oracle, OurSide, Side
from kafkish.tests.coordinators.groups.oracle.transactions import Transaction

pytestmark = pytest.mark.kafka


def ask_all(side: Side, *groups: str) -> None:
    for group in groups:
        side.ask(requests.describe(group), 6)
        side.ask(requests.fetch(group, None), 9)


def test_groups_and_offsets_are_as_kafka_has_them(oracle: Oracle) -> None:
    theirs = KafkaSide("groups/", oracle.topic_id, oracle.port)
    member = stable(theirs, "groups/stable")
    static = stable(theirs, "groups/static", instance="i")
    theirs.ask(requests.commit("groups/stable", {("t", 0): 5, ("t", 1): 6}, member=member, generation=1), 9)
    theirs.ask(requests.commit("groups/simple", {("t", 0): 7, ("u", 1): 8}, metadata="note"), 9)
    theirs.ask(requests.delete_offsets("groups/simple", {"u": [1]}), 0)
    theirs.ask(requests.commit("groups/gone", {("t", 0): 9}), 9)
    theirs.ask(requests.delete("groups/gone"), 2)

    ours = OurSide("groups/", oracle.topic_id, theirs.log())
    for side in (theirs, ours):
        side.transcript.clear()
        ask_all(side, "groups/stable", "groups/static", "groups/simple", "groups/gone")
        side.ask(requests.heartbeat("groups/stable", member, 1), 4)
        side.ask(requests.heartbeat("groups/static", static, 1, instance="i"), 4)
    assert ours.transcript == theirs.transcript


def test_offsets_of_transactions_are_as_kafka_has_them(oracle: Oracle) -> None:
    theirs = KafkaSide("transactions/", oracle.topic_id, oracle.port)
    with Transaction(oracle.port, "transactions/committed") as transaction:
        transaction.commit_offset("transactions/g", ("t", 0), 1)
        transaction.commit_offset("transactions/g", ("t", 1), 1)
        theirs.ask(requests.commit("transactions/g", {("t", 1): 2}), 9)
        transaction.end(commit=True)
    with Transaction(oracle.port, "transactions/aborted") as transaction:
        transaction.commit_offset("transactions/g", ("t", 2), 1)
        transaction.end(commit=False)
    with Transaction(oracle.port, "transactions/open") as transaction:
        transaction.commit_offset("transactions/g", ("t", 3), 1)
        ours = OurSide("transactions/", oracle.topic_id, theirs.log())
        for side in (theirs, ours):
            side.transcript.clear()
            ask_all(side, "transactions/g")
        assert ours.transcript == theirs.transcript
        transaction.end(commit=False)
