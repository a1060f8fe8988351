"""What AlterConfigs and IncrementalAlterConfigs share: a broker looks at resources before the controller does.

What it can decide alone it answers, the controller gets the rest, and the client gets one response.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from kafkish.config.alter import Operation, OperationType, check_request
from kafkish.config.types import ConfigError
from kafkish.deferred import Deferred
from kafkish.handlers.registry import RequestContext
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages import alter_configs as legacy
from kafkish_protocol.messages import incremental_alter_configs as incremental
from kafkish_protocol.schema import Response

RequestT = TypeVar("RequestT", legacy.AlterConfigsRequest, incremental.IncrementalAlterConfigsRequest)


def alter(
    request: RequestT,
    context: RequestContext,
    decide: Callable[[Any], bool],
    row_class: Callable[..., Any],
    response_class: Callable[..., Response],
) -> Response | Deferred[Response]:
    """Ask `decide` of each resource: true if all is done, false for the controller, ConfigError to refuse."""
    resources: Sequence[Any] = request.resources
    decided = decide_each(resources, decide)
    rows = {place: row(error, resources[place], row_class) for place, error in decided.items()}
    if len(rows) == len(resources):
        return response_class(responses=[rows[place] for place in range(len(resources))])
    rest = [resource for place, resource in enumerate(resources) if place not in rows]
    answer = context.services.controller.submit(replace(request, resources=rest), context.api_version)
    return answer.map(lambda response: response_class(responses=joined(response, rows, len(resources))))


def decide_each(resources: Sequence[Any], decide: Callable[[Any], bool]) -> dict[int, ConfigError | None]:
    """What is decided of the resources at these places. The others are the controller's."""
    counts = Counter((each.resource_type, each.resource_name) for each in resources)
    decided: dict[int, ConfigError | None] = {}
    for place, resource in enumerate(resources):
        try:
            if counts[resource.resource_type, resource.resource_name] > 1:
                raise ConfigError("Each resource must appear at most once.", ErrorCode.INVALID_REQUEST)
            check_request(operations(resource))
            if decide(resource):
                decided[place] = None
        except ConfigError as error:
            decided[place] = error
    return decided


def operations(resource: Any) -> list[Operation]:
    """What is to be done to a resource; AlterConfigs sets everything."""
    kind = OperationType.SET
    return [Operation(each.name, getattr(each, "config_operation", kind), each.value) for each in resource.configs]


def joined(response: Any, rows: Mapping[int, Any], count: int) -> list[Any]:
    """Our rows and the controller's, in the order of the request."""
    others = iter(response.responses)
    return [rows[place] if place in rows else next(others) for place in range(count)]


def row(error: ConfigError | None, asked: Any, row_class: Callable[..., Any]) -> Any:
    """The row of a resource that this broker decided on."""
    return row_class(
        error_code=ErrorCode.NONE if error is None else error.code,
        error_message=None if error is None else error.message,
        resource_type=asked.resource_type,
        resource_name=asked.resource_name,
    )


def unknown_type(resource_type: int) -> ConfigError:
    """The refusal of resources that have no configs to alter."""
    return ConfigError(f"Unknown resource type {resource_type}", ErrorCode.INVALID_REQUEST)
