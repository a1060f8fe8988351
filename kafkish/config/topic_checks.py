"""What must hold between the configs of one topic."""

from collections.abc import Mapping

from kafkish.config.node import NodeConfigs
from kafkish.config.types import ConfigError, Value, refusal


def check_topic(values: Mapping[str, Value], old: Mapping[str, str], node: NodeConfigs) -> None:
    """Raise what does not fit together in the values of a topic that had the configs `old`."""
    least, most = _number(values, "min.compaction.lag.ms"), _number(values, "max.compaction.lag.ms")
    if least > most:
        lags = f"min.compaction.lag.ms ({least}) > max.compaction.lag.ms ({most})"
        raise ConfigError(f"conflict topic config setting {lags}")
    if values["remote.storage.enable"]:
        _check_remote(values, node)
    elif old.get("remote.storage.enable", "").lower() == "true" and not values["remote.log.delete.on.disable"]:
        raise ConfigError(
            "It is invalid to disable remote storage without deleting remote data. "
            "To keep it and only read it, set remote.storage.enable=true,remote.log.copy.disable=true. "
            "To delete it, set remote.storage.enable=false,remote.log.delete.on.disable=true."
        )


def _check_remote(values: Mapping[str, Value], node: NodeConfigs) -> None:
    """Remote storage: KIP-405, KIP-950."""
    if not node.values["remote.log.storage.system.enable"]:
        off = "Tiered Storage functionality is disabled in the broker."
        raise ConfigError(f"{off} Topic cannot be configured with remote log storage.")
    if values["cleanup.policy"] not in ((), ("delete",)):
        needed = "cleanup.policy=delete or cleanup.policy being an empty list"
        raise ConfigError(f"Remote log storage only supports topics with {needed}.")
    for unit in ("bytes", "ms"):
        check_local_retention(values, f"local.retention.{unit}", f"retention.{unit}")
    for unit in ("bytes", "ms") if values["remote.log.copy.disable"] else ():
        local = values[f"local.retention.{unit}"]
        if local not in (-2, values[f"retention.{unit}"]):
            both = f"the `local.retention.{unit}` and `retention.{unit}` must be set to the identical value"
            why = "because there will be no more logs copied to the remote storage"
            raise ConfigError(f"When `remote.log.copy.disable` is set to true, {both} {why}.")


def check_local_retention(values: Mapping[str, Value], name: str, whole: str) -> None:
    """What is kept on this disk is part of what is kept; -2 stands for all of it."""
    local, total = _number(values, name), _number(values, whole)
    if total < 0 or local == -2:
        return
    if local == -1:
        raise refusal(name, local, f"Value must not be -1 as {whole} value is set as {total}.")
    if local > total:
        raise refusal(name, local, f"Value must not be more than {whole} property value: {total}")


def _number(values: Mapping[str, Value], name: str) -> int:
    value = values[name]
    assert isinstance(value, int)
    return value
