"""Short names for what stands in the columns of the tables."""

from typing import Final

from kafkish.config.types import ConfigType, Update

BOOLEAN: Final = ConfigType.BOOLEAN
STRING: Final = ConfigType.STRING
INT: Final = ConfigType.INT
SHORT: Final = ConfigType.SHORT
LONG: Final = ConfigType.LONG
DOUBLE: Final = ConfigType.DOUBLE
LIST: Final = ConfigType.LIST
CLASS: Final = ConfigType.CLASS
PASSWORD: Final = ConfigType.PASSWORD

PER_BROKER: Final = Update.PER_BROKER
CLUSTER: Final = Update.CLUSTER
