"""Takes what the quorum has committed to everyone on this node, in order, one update at a time.

An update becomes visible when this node has carried it out: a client that reads of a topic here can write to it here.
"""

import logging
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from kafkish.config.node import NodeConfigs
from kafkish.config.settings import Settings, make_settings
from kafkish.config.types import ConfigError
from kafkish.deferred import Deferred
from kafkish.metadata.changes import Update
from kafkish.metadata.image import EMPTY, MetadataImage, ResourceType

log = logging.getLogger("kafkish.metadata")

Subscriber: TypeAlias = Callable[[Update, Settings], Deferred[None] | None]
"""Carries out an update; a Deferred holds back the next subscriber, and the image, until it is done."""


class Publisher:
    """Knows the image that this node has carried out, and the settings that follow from it."""

    def __init__(self, settings: Settings) -> None:
        self.image: MetadataImage = EMPTY
        self.settings = settings
        self._subscribers: list[Subscriber] = []
        self._waiting: deque[Update] = deque()
        self._settled: list[Deferred[None]] = []
        self._is_busy = False

    def subscribe(self, subscriber: Subscriber) -> None:
        """Subscribers are called in the order in which they came."""
        self._subscribers.append(subscriber)

    def committed(self, update: Update) -> None:
        """Something new is in the metadata log."""
        self._waiting.append(update)
        if not self._is_busy:
            self._next()

    def settled(self) -> Deferred[None]:
        """Done when everything that has been committed by now is carried out."""
        deferred: Deferred[None] = Deferred()
        if self._is_busy:
            self._settled.append(deferred)
        else:
            deferred.resolve(None)
        return deferred

    def _next(self) -> None:
        self._is_busy = True
        update = self._waiting.popleft()
        self.settings = self._settings_after(update)
        self._carry_out(update, 0)

    def _carry_out(self, update: Update, first: int) -> None:
        for index in range(first, len(self._subscribers)):
            done = self._subscribers[index](update, self.settings)
            if done is not None:
                done.on_done(partial(self._go_on, update, index + 1))
                return
        self.image = update.after
        self._is_busy = False
        if self._waiting:
            self._next()
        else:
            settled, self._settled = self._settled, []
            for deferred in settled:
                deferred.resolve(None)

    def _go_on(self, update: Update, first: int, done: Deferred[None]) -> None:
        try:
            done.result()
        except Exception:  # one subscriber's trouble must not keep the others from what they need
            log.exception("an update of the metadata could not be carried out as a whole")
        self._carry_out(update, first)

    def _settings_after(self, update: Update) -> Settings:
        """The same settings, unless someone changed this broker's, or all brokers', configs."""
        if not any(resource.type == ResourceType.BROKER for resource in update.changes.configs):
            return self.settings
        image, own = update.after, str(self.settings.node.node_id)
        try:
            return make_settings(
                NodeConfigs(
                    self.settings.configs.static,
                    image.config(ResourceType.BROKER, ""),
                    image.config(ResourceType.BROKER, own),
                )
            )
        except ConfigError as error:
            log.error("the dynamic configs of this broker cannot be used: %s", error)
            return self.settings
