"""Which broker configs may change while the broker runs."""

from collections.abc import Collection
from typing import Final

from kafkish.config.names import base_name, row_of
from kafkish.config.tables import BROKER
from kafkish.config.types import ConfigError, Update

_FIXED: Final = ("listeners", "listener.security.protocol.map")
"""Dynamic in Kafka; kafkish opens its listeners once."""
_ONLY_OF_A_LISTENER: Final = (
    "ssl.keystore.type", "ssl.keystore.location", "ssl.keystore.password", "ssl.key.password",
    "ssl.keystore.key", "ssl.keystore.certificate.chain", "ssl.truststore.type", "ssl.truststore.location",
    "ssl.truststore.password", "ssl.truststore.certificates",
)  # fmt: skip


def check_dynamic(new: Collection[str]) -> None:
    """Raise if a name may not change."""
    fixed = [name for name in new if name in BROKER and BROKER[name].update is Update.READ_ONLY]
    _refuse("Cannot update these configs dynamically", fixed)
    bare = [name for name in new if name in _ONLY_OF_A_LISTENER]
    _refuse("These security configs can be dynamically updated only per-listener using the listener prefix", bare)


def check_scope(new: Collection[str], *, per_broker: bool) -> None:
    """Raise if a name may not change for all brokers at once, or not here."""
    if not per_broker:
        single = [name for name in new if (row := row_of(name)) and row.update is not Update.CLUSTER]
        _refuse("Cannot update these configs at default cluster level, broker id must be specified", single)
    unserved = [name for name in new if name in _FIXED or base_name(name) != name]
    _refuse("kafkish reads these configs at its start only: set them in server.properties and restart", unserved)


def _refuse(reason: str, names: list[str]) -> None:
    if names:
        raise ConfigError(f"{reason}: [{', '.join(names)}]")
