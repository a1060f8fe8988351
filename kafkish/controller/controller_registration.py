"""ControllerRegistration (70): a controller says where it is and which features it supports (KIP-919)."""

from kafkish.controller.operation import Context, Result
from kafkish.metadata.image import MetadataImage
from kafkish.metadata.nodes import Controller, controller_to_record, features_from, listeners_from
from kafkish.metadata.versions import CONTROLLER_REGISTRATION
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)


def controller_registration(
    image: MetadataImage,
    request: ControllerRegistrationRequest,
    context: Context,  # noqa: ARG001  # every operation has one
) -> Result[ControllerRegistrationResponse]:
    """Register a controller, in the place of what it said before."""
    if image.metadata_version < CONTROLLER_REGISTRATION:
        message = "The current MetadataVersion is too old to support controller registrations."
        code = ErrorCode.UNSUPPORTED_VERSION
        return Result([], ControllerRegistrationResponse(error_code=code, error_message=message))
    controller = Controller(
        id=request.controller_id,
        incarnation_id=request.incarnation_id,
        listeners=listeners_from(request.listeners),
        features=features_from(request.features),
    )
    return Result([controller_to_record(controller)], ControllerRegistrationResponse(error_message=None))
