"""What a client may do to a resource, as a set of bits: 1 << the number of the operation (KIP-430).

Without an authorizer everyone may do all that there is to do.
"""

from typing import Final

from kafkish.controller.ports import AclOperation

NOT_ASKED: Final = -(2**31)

_READ, _WRITE, _CLUSTER_ACTION, _IDEMPOTENT_WRITE = 3, 4, 9, 12
_CONFIGS: Final = (AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS)


def _bits(*operations: int) -> int:
    return sum(1 << operation for operation in operations)


TOPIC_OPERATIONS: Final = _bits(
    _READ, _WRITE, AclOperation.CREATE, AclOperation.DELETE, AclOperation.ALTER, AclOperation.DESCRIBE, *_CONFIGS
)
CLUSTER_OPERATIONS: Final = _bits(
    AclOperation.CREATE, AclOperation.ALTER, AclOperation.DESCRIBE, _CLUSTER_ACTION, _IDEMPOTENT_WRITE, *_CONFIGS
)
GROUP_OPERATIONS: Final = _bits(_READ, AclOperation.DELETE, AclOperation.DESCRIBE, *_CONFIGS)
