"""Settings, features, quotas and producer ids, in `__cluster_metadata`."""

from kafkish_protocol.fields import field
from kafkish_protocol.schema import MetadataRecord, Struct
from kafkish_protocol.types import Array, Bool, Float64, Int8, Int16, Int32, Int64, String


class ConfigRecord(MetadataRecord, api_key=4, versions="0", flexible="0+"):
    resource_type: int = field(Int8, "0+")
    resource_name: str = field(String, "0+")
    name: str = field(String, "0+")
    value: str | None = field(String, "0+", nullable="0+")


class FeatureLevelRecord(MetadataRecord, api_key=12, versions="0", flexible="0+"):
    name: str = field(String, "0+")
    feature_level: int = field(Int16, "0+")


class EntityData(Struct):
    entity_type: str = field(String, "0+")
    entity_name: str | None = field(String, "0+", nullable="0+")


class ClientQuotaRecord(MetadataRecord, api_key=14, versions="0", flexible="0+"):
    entity: list[EntityData] = field(Array(EntityData), "0+")
    key: str = field(String, "0+")
    value: float = field(Float64, "0+")
    remove: bool = field(Bool, "0+")


class ProducerIdsRecord(MetadataRecord, api_key=15, versions="0", flexible="0+"):
    broker_id: int = field(Int32, "0+", entity="brokerId")
    broker_epoch: int = field(Int64, "0+", default=-1)
    next_producer_id: int = field(Int64, "0+")


class ZkMigrationStateRecord(MetadataRecord, api_key=21, versions="0", flexible="0+"):
    zk_migration_state: int = field(Int8, "0+")
