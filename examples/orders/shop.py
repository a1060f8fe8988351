"""A shop's day, the same for the same seed: orders, payments, and some records that are broken.

Plain data: knows neither Kafka nor Spark. `expected` is what a pass over it in plain Python finds; the pipeline's
figures must equal it.
"""

import calendar
import json
import math
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

COUNTRIES: Final = {"DE": 34, "FR": 26, "IT": 18, "NL": 13, "SE": 9}
DAY_MS: Final = 86_400_000
MINUTE_MS: Final = 60_000
WINDOW_MS: Final = 30 * MINUTE_MS
PAY_WITHIN_MS: Final = 30 * MINUTE_MS
WATERMARK_MS: Final = 10 * MINUTE_MS
FIRST_MS: Final = calendar.timegm((2024, 5, 1, 0, 0, 0)) * 1_000

BROKEN: Final = (
    b'{"order_id": "o-',
    b"",
    b'{"order_id": "o-1", "amount_cents": "much"}',
    b"\xff\xfe",
    b'{"amount_cents": 5}',
)


@dataclass(frozen=True, slots=True)
class Order:
    """An order, and when it was paid, if ever."""

    order_id: str
    country: str
    amount_cents: int
    ordered_ms: int
    paid_ms: int | None


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a topic."""

    topic: str
    key: str
    value: bytes


@dataclass(slots=True)
class Figures:
    """What a pass over the day finds."""

    orders: Counter[tuple[int, str]] = field(default_factory=Counter)
    revenue_cents: Counter[tuple[int, str]] = field(default_factory=Counter)
    unpaid: set[str] = field(default_factory=set)


def orders(count: int, seed: int) -> list[Order]:
    """A day's orders: few at night, most in the evening; some pay late, some never."""
    dice = random.Random(seed)
    names, weights = list(COUNTRIES), list(COUNTRIES.values())
    made = []
    for number in range(count):
        ordered_ms = FIRST_MS + _moment_of_day(dice)
        amount_cents = 500 + int(dice.lognormvariate(8, 0.8))
        made.append(
            Order(
                f"o-{number:07d}",
                dice.choices(names, weights)[0],
                amount_cents,
                ordered_ms,
                _payment(dice, ordered_ms),
            )
        )
    return made


def _moment_of_day(dice: random.Random) -> int:
    """By rejection, under a curve with its low at 4 and its high at 19 o'clock."""
    while True:
        hour = dice.random() * 24
        height = 0.55 - 0.35 * math.cos((hour - 4) * math.pi / 12) + 0.25 * math.exp(-((hour - 19) ** 2) / 6)
        if dice.random() < height:
            return int(hour * 3_600_000)


def _payment(dice: random.Random, ordered_ms: int) -> int | None:
    luck = dice.random()
    if luck < 0.03:
        return None
    if luck < 0.04:
        return ordered_ms + PAY_WITHIN_MS + dice.randrange(MINUTE_MS, 15 * MINUTE_MS)
    return ordered_ms + min(int(dice.expovariate(1 / (5 * MINUTE_MS))), PAY_WITHIN_MS - MINUTE_MS)


def records(day: list[Order], seed: int) -> Iterator[Record]:
    """What the shop writes, nearly in the order of time: a record may come some seconds late."""
    dice = random.Random(seed + 1)
    written = []
    for order in day:
        written.append((order.ordered_ms + dice.randrange(5_000), _order_record(order)))
        if order.paid_ms is not None:
            written.append((order.paid_ms + dice.randrange(5_000), _payment_record(order, order.paid_ms)))
    written += [(FIRST_MS + dice.randrange(DAY_MS), Record("orders", "broken", value)) for value in BROKEN * 20]
    written.sort(key=lambda pair: pair[0])
    return (record for _, record in written)


def _order_record(order: Order) -> Record:
    value = {"order_id": order.order_id, "country": order.country, "amount_cents": order.amount_cents}
    return Record("orders", order.order_id, _json({**value, "ordered_at": iso(order.ordered_ms)}))


def _payment_record(order: Order, paid_ms: int) -> Record:
    value = {"order_id": order.order_id, "amount_cents": order.amount_cents, "paid_at": iso(paid_ms)}
    return Record("payments", order.order_id, _json(value))


def _json(value: dict[str, object]) -> bytes:
    return json.dumps(value).encode()


def iso(timestamp_ms: int) -> str:
    """`2024-05-01T12:00:00.123Z`."""
    days, ms = divmod(timestamp_ms - FIRST_MS, DAY_MS)
    seconds, ms = divmod(ms, 1_000)
    return f"2024-05-{1 + days:02d}T{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{ms:03d}Z"


def expected(day: list[Order]) -> Figures:
    """One pass in plain Python.

    An order counts as unpaid when its half hour is over, by the time that both topics have reached less the ten
    minutes that a record may be late.
    """
    figures = Figures()
    paid = [order.paid_ms for order in day if order.paid_ms is not None]
    watermark_ms = min(max(order.ordered_ms for order in day), max(paid)) - WATERMARK_MS
    for order in day:
        window = (order.ordered_ms - order.ordered_ms % WINDOW_MS, order.country)
        figures.orders[window] += 1
        figures.revenue_cents[window] += order.amount_cents
        in_time = order.paid_ms is not None and order.paid_ms <= order.ordered_ms + PAY_WITHIN_MS
        if not in_time and order.ordered_ms + PAY_WITHIN_MS < watermark_ms:
            figures.unpaid.add(order.order_id)
    return figures
