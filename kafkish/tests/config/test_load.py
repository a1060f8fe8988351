"""server.properties and --set become settings, or sentences that help."""

from pathlib import Path

import pytest

from kafkish.config.addresses import Address, Listener, Voter
from kafkish.config.load import DEFAULTS, MAX_FILE_BYTES, SettingsError, load
from kafkish.config.node import NodeConfigs
from kafkish.config.settings import GROUPS_OF_SETTINGS, config_of
from kafkish.config.tables import BROKER
from kafkish.config.types import ConfigType

KAFKAS_OWN = """
# The shape of the file that comes with Kafka.
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL
num.network.threads=3
log.dirs=/var/one,\\
         /var/two
log.retention.hours=168
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "server.properties"


def refusal(path: Path | None = None, *overrides: str) -> str:
    with pytest.raises(SettingsError) as refused:
        load(path, overrides)
    return str(refused.value)


def test_a_node_needs_no_file() -> None:
    settings = load()
    assert settings.node.process_roles == ("broker", "controller")
    assert settings.network.listeners == (Listener("PLAINTEXT", "PLAINTEXT", Address("127.0.0.1", 9092)),)
    assert settings.network.advertised_listeners is None
    assert settings.log.log_dirs == ("./data",)
    assert settings.quorum.metadata_log_dir == "./data"
    assert settings.groups.offsets_topic_replication_factor == 1


def test_the_file_that_comes_with_kafka_is_understood(file: Path) -> None:
    file.write_text(KAFKAS_OWN)
    settings = load(file)
    assert settings.network.listeners[1] == Listener("CONTROLLER", "PLAINTEXT", Address("", 9093))
    assert settings.network.advertised_listeners is not None
    assert settings.network.advertised_listeners[0].address == Address("localhost", 9092)
    assert settings.network.controller_listener_names == ("CONTROLLER",)
    assert settings.quorum.controller_quorum_bootstrap_servers == (Address("localhost", 9093),)
    assert settings.log.log_dirs == ("/var/one", "/var/two")
    assert settings.groups.offsets_topic_replication_factor == 3


def test_overrides_win_over_the_file(file: Path) -> None:
    file.write_text("num.partitions=3\nbroker.rack=a\n")
    settings = load(file, ["num.partitions=7", "listeners=PLAINTEXT://[::1]:0"])
    assert (settings.topics.num_partitions, settings.node.broker_rack) == (7, "a")
    assert str(settings.network.listeners[0].address) == "[::1]:0"


def test_a_static_quorum_names_its_voters() -> None:
    listeners = "listeners=PLAINTEXT://h:9092,CONTROLLER://h:9093"
    settings = load(overrides=["controller.quorum.voters=1@h:9093,2@[::1]:9094", listeners])
    assert settings.quorum.controller_quorum_voters == (Voter(1, Address("h", 9093)), Voter(2, Address("::1", 9094)))


def test_the_other_names_of_a_key_replace_its_default() -> None:
    settings = load(overrides=["broker.id=5", "log.dir=/one"])
    assert (settings.node.node_id, settings.log.log_dirs) == (5, ("/one",))


def test_every_problem_is_told_with_file_and_line(file: Path) -> None:
    file.write_text("num.partitions=3\n\nnum.partition=4\nlog.dirs=a\\\n,b\nlog.retention.hours=week\n")
    assert refusal(file, "no.such=1") == (
        f"{file}:3: unknown key num.partition; did you mean num.partitions?\n"
        f"{file}:6: Invalid value week for configuration log.retention.hours: Not a number of type INT\n"
        "--set no.such: unknown key no.such"
    )


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("advertised.listener=x", "did you mean advertised.listeners?"),
        ("listener.name.internal.ssl.keystore.locatoin=x", "listener.name.internal.ssl.keystore.location?"),
        ("kafkish.flush.before.ak=true", "did you mean kafkish.flush.before.ack?"),
        ("retention.ms=5", "topic config; the default of all topics is log.retention.ms"),
        ("remote.storage.enable=true", "topic config; set it when a topic is created"),
        ("zookeeper.connect=h:2181", "not a key of Kafka 4 any more"),
        ("leader.replication.throttled.rate=5", "dynamic config"),
        ("num.partitions", "write key=value"),
        ("authorizer.class.name=org.example.Authorizer", "does not serve authorizer.class.name yet"),
        ("listeners=SSL://:9092", "not PLAINTEXT"),
        ("remote.log.storage.system.enable=true", "does not serve remote.log.storage.system.enable yet"),
        ("listeners=PLAINTEXT://h:99999", "PLAINTEXT://0.0.0.0:9092"),
        ("kafkish.metrics.listen=9100", "{host}:{port}"),
        ("process.roles=broker", "process.roles must be both"),
        ("node.id=-1", "Value must be at least 0"),
    ],
)
def test_a_mistake_is_explained(override: str, words: str) -> None:
    assert words in refusal(None, override)


@pytest.mark.parametrize(
    "override",
    [
        "num.io.threads=16",
        "listener.name.internal.sasl.enabled.mechanisms=PLAIN",
        "listener.name.internal.plain.sasl.jaas.config=secret",
        "super.users=User:admin",
        "log.cleaner.io.buffer.size=1048576",
        "unstable.api.versions.enable=true",
    ],
)
def test_what_kafka_knows_and_kafkish_does_not_use_is_accepted(override: str) -> None:
    load(overrides=[override])


def test_a_file_that_cannot_be_read_is_named(file: Path) -> None:
    assert refusal(file) == f"{file}: No such file or directory"
    file.write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    assert "is it a properties file?" in refusal(file)
    file.write_text("node.id=1\nbroker.rack=\\u12x4\n")
    assert refusal(file).startswith(f"{file}:2: \\u12x4 is not")


def test_a_secret_is_never_in_a_complaint(file: Path) -> None:
    file.write_text("ssl.keystore.pasword=canary\nssl.keystore.password=canary\n")
    assert "canary" not in refusal(file)


def test_every_setting_is_a_config_of_the_same_type() -> None:
    python = {
        ConfigType.BOOLEAN: bool, ConfigType.SHORT: int, ConfigType.INT: int, ConfigType.LONG: int,
        ConfigType.DOUBLE: float, ConfigType.STRING: str, ConfigType.LIST: tuple[str, ...],
    }  # fmt: skip
    structured = {"listeners", "advertised_listeners", "max_connections_per_ip_overrides", "metrics_listen"}
    structured |= {"controller_quorum_voters", "controller_quorum_bootstrap_servers"}
    for group in GROUPS_OF_SETTINGS:
        for field, annotation in group.__annotations__.items():
            row = BROKER[config_of(field)]
            if field not in structured:
                assert annotation in (python[row.type], python[row.type] | None), field


def test_every_own_config_is_a_setting() -> None:
    fields = {config_of(field) for group in GROUPS_OF_SETTINGS for field in group._fields}
    assert {name for name in BROKER if name.startswith("kafkish.")} <= fields


def test_defaults_are_kept_with_their_settings() -> None:
    assert isinstance(load().configs, NodeConfigs)
    assert DEFAULTS.items() <= dict(load().configs.static).items()
