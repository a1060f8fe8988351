"""Texts become values, and values texts, as in Java."""

import pytest

from kafkish.config.tables import BROKER, CLIENT_METRICS, GROUP, TOPIC
from kafkish.config.types import Config, ConfigError, ConfigType, Value
from kafkish.config.values import parse, parse_type, to_text


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (ConfigType.BOOLEAN, " TRUE ", True),
        (ConfigType.INT, "+007", 7),
        (ConfigType.INT, "-2147483648", -(2**31)),
        (ConfigType.SHORT, "32767", 32_767),
        (ConfigType.LONG, "9223372036854775807", 2**63 - 1),
        (ConfigType.LONG, "0" * 100 + "1", 1),
        (ConfigType.DOUBLE, "1.5e-3d", 0.0015),
        (ConfigType.LIST, " a ,b,, c d ", ("a", "b", "", "c d")),
        (ConfigType.LIST, "  ", ()),
        (ConfigType.STRING, "\t text \n", "text"),
        (ConfigType.PASSWORD, " secret ", "secret"),
    ],
)
def test_text_is_read_by_its_type(type_: ConfigType, text: str, value: Value) -> None:
    assert parse_type("name", text, type_) == value


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (ConfigType.BOOLEAN, "yes"),
        (ConfigType.SHORT, "32768"),
        (ConfigType.INT, "2147483648"),
        (ConfigType.INT, "1_000"),
        (ConfigType.INT, ""),
        (ConfigType.LONG, "9" * 100_000),
        (ConfigType.LONG, "1.0"),
        (ConfigType.DOUBLE, "nan"),
        (ConfigType.DOUBLE, "1,5"),
    ],
)
def test_text_of_another_type_is_refused_with_name_and_value(type_: ConfigType, text: str) -> None:
    with pytest.raises(ConfigError, match=f"^Invalid value {text} for configuration some.name: "):
        parse_type("some.name", text, type_)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (5, "5"),
        (("a", "b"), "a,b"),
        ((), ""),
        (None, None),
        (0.0, "0.0"),
        (0.001, "0.001"),
        (0.00025, "2.5E-4"),
        (9_999_999.5, "9999999.5"),
        (1e7, "1.0E7"),
        (12_345_678.9, "1.23456789E7"),
        (-1e100, "-1.0E100"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_value_is_shown_as_java_shows_it(value: Value, text: str | None) -> None:
    assert to_text(value) == text


def test_duplicates_of_a_list_are_dropped() -> None:
    assert parse(TOPIC["cleanup.policy"], "delete,compact,delete") == ("delete", "compact")


def test_java_classes_cannot_be_loaded_except_kafkas_own_defaults() -> None:
    default = "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"
    assert parse(BROKER["principal.builder.class"], default) == default
    with pytest.raises(ConfigError, match=r"Class com\.example\.Policy could not be found"):
        parse(BROKER["create.topic.policy.class.name"], "com.example.Policy")


def test_every_default_is_legal_and_survives_the_way_through_text() -> None:
    for row in (*BROKER.values(), *TOPIC.values(), *GROUP.values(), *CLIENT_METRICS.values()):
        text = to_text(row.default)
        assert text is None or parse(row, text) == row.default, row.name


@pytest.mark.parametrize(
    "row", [TOPIC["min.cleanable.dirty.ratio"], TOPIC["retention.ms"], GROUP["share.auto.offset.reset"]]
)
def test_a_long_text_is_refused_in_a_time_that_grows_with_its_length_only(row: Config) -> None:
    """A quadratic reader would need hours for these, and the test would time out."""
    for text in ("1" * 1_000_000 + "x", "by_duration:P" + "1" * 1_000_000, "1." * 500_000):
        with pytest.raises(ConfigError):
            parse(row, text)
