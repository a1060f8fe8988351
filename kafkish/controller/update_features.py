"""UpdateFeatures (57): finalize a feature at another level, for the whole cluster (KIP-584).

- All updates of a request are made, or none.
- Every broker and every controller must support the new level; a controller that has not registered may not.
- `metadata.version` cannot go back over a level that brought new records.
- `kraft.version` is the quorum's own: the controller checks it, and whoever runs the operation asks the quorum
  (`wanted_kraft_version`). It only grows.
- Eligible leader replicas need one `min.insync.replicas` for all brokers, so brokers lose their own (KIP-966).
"""

from collections.abc import Iterator, Mapping
from enum import IntEnum

from kafkish.controller.config_checks import MIN_ISR
from kafkish.controller.features import FEATURES, missing_need
from kafkish.controller.operation import ApiError, Context, Result
from kafkish.metadata import versions
from kafkish.metadata.image import ALL_BROKERS, MetadataImage, ResourceType
from kafkish.metadata.nodes import VersionRange
from kafkish_protocol.error_codes import ErrorCode
from kafkish_protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from kafkish_protocol.schema import MetadataRecord
from kafkish_protocol.stored.metadata_settings import ConfigRecord, FeatureLevelRecord
from kafkish_protocol.stored.metadata_transactions import NoOpRecord


class Upgrade(IntEnum):
    """Which way an update may go."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


def update_features(
    image: MetadataImage, request: UpdateFeaturesRequest, context: Context
) -> Result[UpdateFeaturesResponse]:
    """Make all updates, or none."""
    updates = {update.feature: update for update in request.feature_updates}
    levels = {**image.features.levels, versions.METADATA_VERSION: image.metadata_version}
    levels |= {name: update.max_version_level for name, update in updates.items()}
    records: list[MetadataRecord] = []
    try:
        for update in updates.values():
            records += update_feature(image, update, levels, context)
    except ApiError as error:
        message = f"The update failed for all features since the following feature had an error: {error.message}"
        return Result([], UpdateFeaturesResponse(error_code=error.code, error_message=message))
    if updates.get(versions.ELR_VERSION, FeatureUpdateKey()).max_version_level > 0:
        records = [*one_min_isr(image, context), *records]
    response = UpdateFeaturesResponse(error_message=None)
    if context.api_version <= 1:  # Kafka's text for no error, in these rows alone
        response.results = [UpdatableFeatureResult(feature=name, error_message="NONE") for name in updates]
    return Result([] if request.validate_only else records, response)


def wanted_kraft_version(request: UpdateFeaturesRequest) -> int | None:
    """The level to ask the quorum for, when the operation has succeeded and is not for validation only."""
    named = [update for update in request.feature_updates if update.feature == versions.KRAFT_VERSION]
    return None if request.validate_only or not named else named[-1].max_version_level


def update_feature(
    image: MetadataImage, update: FeatureUpdateKey, levels: Mapping[str, int], context: Context
) -> list[MetadataRecord]:
    """The record of one update; `levels` is how all features would be."""
    name, level = update.feature, update.max_version_level
    if update.upgrade_type not in set(Upgrade):
        raise _refusal(update, "The controller does not support the given upgrade type.")
    if level < 0:
        raise _refusal(update, "A feature version cannot be less than 0.")
    reason = next(reasons_not_supported(image, name, level, context), None)
    if reason is not None:
        raise _refusal(update, reason)
    present = context.kraft_version if name == versions.KRAFT_VERSION else image.features.level(name)
    check_direction(update, present)
    if name == versions.KRAFT_VERSION:
        # The record is there to be waited for; the quorum writes the level itself.
        return [NoOpRecord()] if update.upgrade_type == Upgrade.UPGRADE else []
    if name == versions.METADATA_VERSION:
        check_metadata_version(present, level, update.upgrade_type)
    elif name not in FEATURES:
        raise _refusal(update, f"Feature {name} not found.")
    elif (problem := missing_need(name, level, levels)) is not None:
        raise _refusal(update, problem)
    return [FeatureLevelRecord(name=name, feature_level=level)]


def check_direction(update: FeatureUpdateKey, present: int) -> None:
    """Refuse to go back without being told so, and to go forth when told to go back."""
    level, upgrade = update.max_version_level, update.upgrade_type == Upgrade.UPGRADE
    if level < present and upgrade:
        reason = (
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe "
        )
        raise _refusal(update, reason + "downgrade.")
    if level > present and not upgrade:
        raise _refusal(update, "Can't downgrade to a newer version.")
    if update.feature == versions.KRAFT_VERSION and level < present:
        raise _refusal(update, "Can't downgrade the version of this feature.")


def check_metadata_version(present: int, level: int, upgrade_type: int) -> None:
    """Refuse to go back below a level that brought new records."""
    if versions.loses_metadata(present, level):
        reason = (
            "Unsafe metadata downgrade is not supported in this version."
            if upgrade_type == Upgrade.UNSAFE_DOWNGRADE
            else "Refusing to perform the requested downgrade because it might delete metadata information."
        )
        message = f"Unsupported metadata.version downgrade from {present} to {level}. {reason}"
        raise ApiError(ErrorCode.INVALID_UPDATE_VERSION, message)


def reasons_not_supported(image: MetadataImage, name: str, level: int, context: Context) -> Iterator[str]:
    """Which nodes do not support a level, this controller first."""
    settings = context.settings
    nodes = [(f"Local controller {settings.node_id}", settings.supported_features)]
    nodes += [(f"Broker {broker.id}", broker.features) for broker in image.brokers.values()]
    registered = {id: controller for id, controller in image.controllers.items() if id != settings.node_id}
    nodes += [(f"Controller {id}", controller.features) for id, controller in registered.items()]
    for node, features in nodes:
        low, high = features.get(name, VersionRange(0, 0))
        if not low <= level <= high:
            yield f"{node} " + (f"only supports versions {low}-{high}" if high else "does not support this feature.")
    if image.metadata_version >= versions.CONTROLLER_REGISTRATION:
        for id in sorted(settings.voter_ids - registered.keys() - {settings.node_id}):
            yield f"controller {id} has not registered, and may not support this feature"


def one_min_isr(image: MetadataImage, context: Context) -> Iterator[MetadataRecord]:
    """Records after which all brokers have the same `min.insync.replicas`."""
    broker = ResourceType.BROKER
    if MIN_ISR not in image.configs.get(ALL_BROKERS, {}):
        value = str(context.configs.static_min_isr)
        yield ConfigRecord(resource_type=broker, resource_name="", name=MIN_ISR, value=value)
    for resource, configs in image.configs.items():
        if resource.type == broker and resource.name and MIN_ISR in configs:
            yield ConfigRecord(resource_type=broker, resource_name=resource.name, name=MIN_ISR, value=None)


def _refusal(update: FeatureUpdateKey, reason: str) -> ApiError:
    message = f"Invalid update version {update.max_version_level} for feature {update.feature}. {reason}"
    return ApiError(ErrorCode.INVALID_UPDATE_VERSION, message)
