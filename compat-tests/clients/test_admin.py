"""Topics, configs, groups and records are administered by every family of clients that can."""

from collections.abc import Callable, Iterator

import control
import pytest
from clients.families.base import FROM_START, Admin, ClientError, Config, Family, Record
from clients.member import member
from waiting import until
from wire import Wire

TOPIC_ALREADY_EXISTS, INVALID_PARTITIONS, INVALID_REPLICATION_FACTOR, INVALID_CONFIG = 36, 37, 38, 40
UNKNOWN_TOPIC, INVALID_TOPIC, OFFSET_OUT_OF_RANGE, NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND = 3, 17, 1, 68, 69
A_WEEK = Config("604800000", "DEFAULT_CONFIG")


@pytest.fixture
def admin(family: Family) -> Iterator[Admin]:
    with family.admin() as admin:
        yield admin


def refused(code: int) -> Callable[[ClientError], bool]:
    return lambda error: error.code == code


# -- topics


def test_topic_is_created_described_and_deleted(admin: Admin, fresh: Callable[[str], str], wire: Wire) -> None:
    topic = fresh("topic")
    admin.create_topic(topic, 3, {"cleanup.policy": "compact"})
    until(lambda: topic in admin.list_topics(), "the topic is listed")
    ((_, leader, replicas, in_sync), *others) = admin.describe_topic(topic)
    assert replicas == in_sync == [leader]
    assert [index for index, *_ in others] == [1, 2]
    assert admin.describe_configs("topic", topic)["cleanup.policy"] == Config("compact", "DYNAMIC_TOPIC_CONFIG")
    admin.delete_topic(topic)
    until(lambda: topic not in admin.list_topics(), "the topic is not listed")
    assert control.metadata(wire, topic).error_code == UNKNOWN_TOPIC


def test_topic_made_again_is_empty(admin: Admin, family: Family, topic: str, wire: Wire) -> None:
    family.produce(topic, [Record(b"old")] * 5)
    admin.delete_topic(topic)
    until(lambda: topic not in admin.list_topics(), "the topic is not listed")
    control.create_topic(wire, topic)
    assert family.produce(topic, [Record(b"new")]) == [(0, 0)]
    assert [record.value for record in family.read(topic, 1)] == [b"new"]


@pytest.mark.parametrize(
    ("name", "partitions", "replication", "configs", "code"),
    [
        ("not a name!", 1, 1, {}, INVALID_TOPIC),
        ("..", 1, 1, {}, INVALID_TOPIC),
        ("x" * 250, 1, 1, {}, INVALID_TOPIC),
        ("no-partitions", 0, 1, {}, INVALID_PARTITIONS),
        ("too-many-replicas", 1, 7, {}, INVALID_REPLICATION_FACTOR),
        ("bad-value", 1, 1, {"retention.ms": "soon"}, INVALID_CONFIG),
        ("bad-config", 1, 1, {"no.such.config": "1"}, INVALID_CONFIG),
    ],
)
def test_topic_that_cannot_be_is_refused(
    admin: Admin, name: str, partitions: int, replication: int, configs: dict[str, str], code: int
) -> None:
    with pytest.raises(ClientError, check=refused(code)):
        admin.create_topic(name, partitions, configs, replication=replication)
    assert name not in admin.list_topics()


def test_topic_that_exists_is_refused(admin: Admin, topic: str) -> None:
    with pytest.raises(ClientError, check=refused(TOPIC_ALREADY_EXISTS)):
        admin.create_topic(topic)


def test_topic_that_does_not_exist_cannot_be_deleted(admin: Admin, fresh: Callable[[str], str]) -> None:
    with pytest.raises(ClientError, check=refused(UNKNOWN_TOPIC)):
        admin.delete_topic(fresh("topic"))


def test_validation_alone_creates_nothing(admin: Admin, topic: str, fresh: Callable[[str], str]) -> None:
    unborn = fresh("topic")
    admin.create_topic(unborn, validate_only=True)
    with pytest.raises(ClientError, check=refused(TOPIC_ALREADY_EXISTS)):
        admin.create_topic(topic, validate_only=True)
    assert unborn not in admin.list_topics()


def test_partitions_are_added_and_never_removed(admin: Admin, family: Family, topic: str) -> None:
    admin.create_partitions(topic, 3)
    until(lambda: len(admin.describe_topic(topic)) == 3, "3 partitions")
    assert family.produce(topic, [Record(b"", partition=2)]) == [(2, 0)]
    for count in (3, 2):
        with pytest.raises(ClientError, check=refused(INVALID_PARTITIONS)):
            admin.create_partitions(topic, count)


# -- configs


def test_configs_have_values_and_sources(admin: Admin, make_topic: Callable[..., str]) -> None:
    configs = admin.describe_configs("topic", make_topic(configs={"segment.ms": "60000", "retention.ms": "604800000"}))
    assert configs["segment.ms"] == Config("60000", "DYNAMIC_TOPIC_CONFIG")
    assert configs["retention.ms"] == Config("604800000", "DYNAMIC_TOPIC_CONFIG")
    assert configs["cleanup.policy"] == Config("delete", "DEFAULT_CONFIG")
    assert configs["compression.type"] == Config("producer", "DEFAULT_CONFIG")
    assert configs["max.message.bytes"] == Config("1048588", "DEFAULT_CONFIG")


def test_broker_describes_itself(admin: Admin) -> None:
    _, (node,) = admin.describe_cluster()
    configs = admin.describe_configs("broker", str(node))
    assert configs["log.retention.hours"] == Config("168", "DEFAULT_CONFIG")
    assert configs["message.max.bytes"] == Config("1048588", "DEFAULT_CONFIG")
    assert "listeners" in configs


@pytest.mark.needs("alter_configs")
def test_configs_change_one_by_one(admin: Admin, make_topic: Callable[..., str]) -> None:
    topic = make_topic(configs={"segment.ms": "60000"})

    def change(*changes: tuple[str, str, str | None]) -> dict[str, Config]:
        admin.alter_configs("topic", topic, changes)
        return admin.describe_configs("topic", topic)

    configs = change(("set", "max.message.bytes", "5000"), ("delete", "retention.ms", None))
    assert configs["max.message.bytes"] == Config("5000", "DYNAMIC_TOPIC_CONFIG")
    assert configs["retention.ms"] == A_WEEK
    assert configs["segment.ms"].value == "60000"
    assert change(("append", "cleanup.policy", "compact"))["cleanup.policy"].value == "delete,compact"
    assert change(("append", "cleanup.policy", "compact"))["cleanup.policy"].value == "delete,compact"
    assert change(("subtract", "cleanup.policy", "delete"))["cleanup.policy"].value == "compact"
    assert change(("delete", "cleanup.policy", None))["cleanup.policy"] == Config("delete", "DEFAULT_CONFIG")


@pytest.mark.needs("alter_configs")
@pytest.mark.parametrize(
    ("op", "name", "value"),
    [
        ("set", "retention.ms", "soon"),
        ("set", "min.insync.replicas", "0"),
        ("set", "cleanup.policy", "burn"),
        ("set", "no.such.config", "1"),
        ("append", "retention.ms", "5"),
        ("subtract", "segment.bytes", "5"),
    ],
)
def test_config_that_cannot_be_is_refused(admin: Admin, topic: str, op: str, name: str, value: str) -> None:
    before = admin.describe_configs("topic", topic)
    with pytest.raises(ClientError, check=refused(INVALID_CONFIG)):
        admin.alter_configs("topic", topic, [("set", "flush.messages", "5"), (op, name, value)])
    assert admin.describe_configs("topic", topic) == before


@pytest.mark.needs("alter_configs")
def test_config_works_at_once(admin: Admin, family: Family, topic: str) -> None:
    family.produce(topic, [Record(bytes(3000))])
    admin.alter_configs("topic", topic, [("set", "max.message.bytes", "2000")])

    def is_refused() -> bool:
        try:
            family.produce(topic, [Record(bytes(3000))])
        except ClientError as error:
            return error.code == control.MESSAGE_TOO_LARGE
        return False

    until(is_refused, "the new limit holds")


@pytest.mark.needs("alter_configs")
def test_broker_config_changes_while_it_runs(admin: Admin) -> None:
    _, (node,) = admin.describe_cluster()
    name, resource = "log.segment.delete.delay.ms", str(node)
    admin.alter_configs("broker", resource, [("set", name, "55000")])
    changed = Config("55000", "DYNAMIC_BROKER_CONFIG")
    until(lambda: admin.describe_configs("broker", resource)[name] == changed, "the broker's config")
    admin.alter_configs("broker", resource, [("delete", name, None)])
    default = Config("60000", "DEFAULT_CONFIG")
    until(lambda: admin.describe_configs("broker", resource)[name] == default, "the default again")


@pytest.mark.needs("replace_configs")
@pytest.mark.filterwarnings("ignore:alter_configs has been deprecated")
def test_older_change_of_configs_replaces_them_all(admin: Admin, make_topic: Callable[..., str]) -> None:
    topic = make_topic(configs={"retention.ms": "1000000", "max.message.bytes": "5000"})
    admin.replace_configs(topic, {"max.message.bytes": "6000"})
    configs = admin.describe_configs("topic", topic)
    assert configs["max.message.bytes"] == Config("6000", "DYNAMIC_TOPIC_CONFIG")
    assert configs["retention.ms"] == A_WEEK


# -- groups


def commit(family: Family, group: str, topic: str, offset: int) -> None:
    with family.consumer({"group.id": group}) as consumer:
        consumer.assign([(topic, 0)])
        consumer.commit({(topic, 0): (offset, "")})


def test_group_is_listed_and_described(
    admin: Admin, family: Family, make_topic: Callable[..., str], group: str
) -> None:
    topic = make_topic(2)
    with member(family, group, [topic], {"client.id": "a-client"}) as joined:
        until(lambda: len(joined.assignment) == 2, "the member has joined")
        until(lambda: admin.describe_group(group).state == "Stable", "the group is stable")
        assert admin.describe_group(group).members == (("a-client", frozenset({(topic, 0), (topic, 1)})),)
        assert group in admin.list_groups()
        joined.call(lambda consumer: consumer.commit({(topic, 0): (0, "")}))
    until(lambda: admin.describe_group(group).state == "Empty", "the group is empty")
    assert admin.describe_group(group).members == ()


@pytest.mark.needs("delete_group")
def test_group_is_deleted_when_it_is_empty(admin: Admin, family: Family, topic: str, group: str) -> None:
    with pytest.raises(ClientError, check=refused(GROUP_ID_NOT_FOUND)):
        admin.delete_group(group)
    with member(family, group, [topic]) as joined:
        until(lambda: joined.assignment, "the member has joined")
        with pytest.raises(ClientError, check=refused(NON_EMPTY_GROUP)):
            admin.delete_group(group)
        joined.call(lambda consumer: consumer.commit({(topic, 0): (0, "")}))
    admin.delete_group(group)
    assert group not in admin.list_groups()
    assert admin.group_offsets(group) == {}


@pytest.mark.needs("alter_group_offsets")
def test_offsets_of_a_group_are_altered(admin: Admin, family: Family, topic: str, group: str) -> None:
    family.produce(topic, [Record(b"%d" % n) for n in range(10)])
    commit(family, group, topic, 9)
    admin.alter_group_offsets(group, {(topic, 0): 4})
    assert admin.group_offsets(group) == {(topic, 0): (4, "")}
    with family.consumer({"group.id": group}) as consumer:
        consumer.subscribe([topic])
        assert consumer.take(1)[0].offset == 4


@pytest.mark.needs("delete_group_offsets")
def test_offset_of_one_partition_is_deleted(
    admin: Admin, family: Family, make_topic: Callable[..., str], group: str
) -> None:
    topic = make_topic(2)
    commit(family, group, topic, 3)
    admin.alter_group_offsets(group, {(topic, 1): 5})
    admin.delete_group_offsets(group, [(topic, 0)])
    assert admin.group_offsets(group) == {(topic, 1): (5, "")}


def test_lag_is_the_end_less_what_was_committed(
    admin: Admin, family: Family, make_topic: Callable[..., str], group: str
) -> None:
    topic = make_topic(2)
    family.produce(topic, [Record(b"", partition=n % 2) for n in range(20)])
    commit(family, group, topic, 3)
    with family.consumer() as consumer:
        consumer.assign([(topic, 0)])
        assert consumer.end_offset((topic, 0)) - admin.group_offsets(group)[topic, 0][0] == 7


# -- records


def test_records_are_deleted_from_the_start(admin: Admin, family: Family, topic: str) -> None:
    family.produce(topic, [Record(b"%d" % n) for n in range(10)])
    admin.delete_records((topic, 0), 4)
    with family.consumer(FROM_START) as consumer:
        consumer.assign([(topic, 0)])
        assert consumer.take(6)[0].offset == 4
        assert consumer.start_offset((topic, 0)) == 4
    with pytest.raises(ClientError, check=refused(OFFSET_OUT_OF_RANGE)):
        admin.delete_records((topic, 0), 11)
    admin.delete_records((topic, 0), 10)
    assert family.produce(topic, [Record(b"next")]) == [(0, 10)]


def test_cluster_has_a_controller_among_its_nodes(admin: Admin) -> None:
    controller, nodes = admin.describe_cluster()
    assert controller in nodes
