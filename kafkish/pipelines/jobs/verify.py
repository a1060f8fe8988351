"""verify: is a range of a topic whole, in order, and the same as its copy? One distributed pass.

Each record becomes a small row (place, hash, key's hash, sequence). Rows of the same place meet, then partitions are
summed up. The hash is a sum of the records' hashes: it does not depend on the order in which Spark reads them.
"""

from functools import reduce
from operator import add
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

HASH_PARTS: Final = 3
HASH_PART_BITS: Final = 22
"""64 bits in three parts, so that their sums are exact for 2^41 records."""


def record_hash() -> Column:
    """All that a record is. Nulls are marked, because xxhash64 skips them."""
    headers = F.transform(
        "headers", lambda item: F.struct(item["key"], item["value"].isNull().alias("no_value"), item["value"])
    )
    return F.xxhash64(
        *("topic", "partition", "offset"),
        F.unix_millis("timestamp"),
        *(F.col("key").isNull(), "key", F.col("value").isNull(), "value", headers),
    )


def slim(records: DataFrame, side: int, key: str = "key", sequence: str = "") -> DataFrame:
    """What the pass needs of each record. Side 0 is the subject, side 1 what it is compared with."""
    number = F.expr(f"try_cast(({sequence}) AS BIGINT)") if sequence else F.lit(None).cast("bigint")
    return records.select(
        F.lit(side).alias("side"),
        *("topic", "partition", "offset"),
        record_hash().alias("hash"),
        F.expr(key).cast("string").alias("of_key"),
        number.alias("sequence"),
    )


def with_order(rows: DataFrame) -> DataFrame:
    """Mark rows that repeat a sequence number of their key, or come after a higher one, or in another partition.

    Order is that of offsets in a partition. Rows without a key or a number are not judged, and are spread by their
    place: all in one group they would be one task.
    """
    judged = F.col("sequence").isNotNull() & F.col("of_key").isNotNull()
    place = F.concat_ws("/", "partition", "offset")
    rows = rows.withColumn("judged", judged).withColumn("of_key", F.when(judged, F.col("of_key")).otherwise(place))
    of_key = Window.partitionBy("side", "topic", "judged", "of_key")
    in_order = Window.partitionBy("side", "topic", "judged", "of_key", "partition").orderBy("offset")
    earlier = in_order.rowsBetween(Window.unboundedPreceding, -1)
    same = Window.partitionBy("side", "topic", "judged", "of_key", "sequence").orderBy("partition", "offset")
    return rows.withColumns(
        {
            "repeated": F.col("judged") & (F.row_number().over(same) > 1),
            "disordered": F.col("judged") & (F.col("sequence") < F.max("sequence").over(earlier)),
            "strayed": F.col("judged") & (F.min("partition").over(of_key) != F.col("partition")),
        }
    )


def without_order(rows: DataFrame) -> DataFrame:
    """The same columns, for a check that has no sequence."""
    return rows.withColumns(dict.fromkeys(("judged", "repeated", "disordered", "strayed"), F.lit(False)))


def by_place(rows: DataFrame) -> DataFrame:
    """One row for each (topic, partition, offset): how often each side has it, and what it is there."""
    subject, other = F.col("side") == 0, F.col("side") == 1
    marks = [F.count_if(subject & F.col(name)).alias(name) for name in ("judged", "repeated", "disordered", "strayed")]
    return rows.groupBy("topic", "partition", "offset").agg(
        F.count_if(subject).alias("here"),
        F.count_if(other).alias("there"),
        F.min(F.when(subject, F.col("hash"))).alias("hash_here"),
        F.min(F.when(other, F.col("hash"))).alias("hash_there"),
        *[_hash_sum(subject, index).alias(f"sum_here_{index}") for index in range(HASH_PARTS)],
        *[_hash_sum(other, index).alias(f"sum_there_{index}") for index in range(HASH_PARTS)],
        *marks,
    )


def by_partition(places: DataFrame) -> DataFrame:
    """One row for each partition, with the first place of each kind of trouble."""
    here, there = F.col("here") > 0, F.col("there") > 0
    troubles = {
        "duplicates": F.greatest(F.col("here") - 1, F.lit(0)),
        "duplicates_there": F.greatest(F.col("there") - 1, F.lit(0)),
        "only_here": (here & ~there).cast("long"),
        "only_there": (there & ~here).cast("long"),
        "different": (here & there & (F.col("hash_here") != F.col("hash_there"))).cast("long"),
        "repeated": F.col("repeated"),
        "disordered": F.col("disordered"),
        "strayed": F.col("strayed"),
    }
    sums = [f"sum_{side}_{index}" for side in ("here", "there") for index in range(HASH_PARTS)]
    return places.groupBy("topic", "partition").agg(
        F.sum("here").alias("records"),
        F.sum("there").alias("records_there"),
        F.count_if(here).alias("offsets"),
        F.min(F.when(here, F.col("offset"))).alias("first_offset"),
        F.max(F.when(here, F.col("offset"))).alias("last_offset"),
        F.sum("judged").alias("judged"),
        *[F.sum(count).alias(name) for name, count in troubles.items()],
        *[F.min(F.when(count > 0, F.col("offset"))).alias(f"first_{name}") for name, count in troubles.items()],
        *[F.sum(name).alias(name) for name in sums],
    )


def places(subject: DataFrame, other: DataFrame | None, key: str, sequence: str) -> DataFrame:
    """Both sides, brought together by place."""
    rows = slim(subject, 0, key, sequence)
    if other is not None:
        rows = rows.unionByName(slim(other, 1, key, sequence))
    return by_place(with_order(rows) if sequence else without_order(rows))


def examine(subject: DataFrame, other: DataFrame | None, key: str = "key", sequence: str = "") -> DataFrame:
    """The whole pass: a row for each partition."""
    return by_partition(places(subject, other, key, sequence))


def first_gaps(subject: DataFrame) -> DataFrame:
    """Where the first gap of each partition is. Sorts whole partitions: asked only when there are gaps."""
    following = F.lead("offset").over(Window.partitionBy("topic", "partition").orderBy("offset"))
    gaps = subject.select("topic", "partition", "offset", following.alias("next"))
    return gaps.where("next > offset + 1").groupBy("topic", "partition").agg((F.min("offset") + 1).alias("gap"))


def _hash_sum(of_side: Column, index: int) -> Column:
    part = F.shiftrightunsigned("hash", index * HASH_PART_BITS).bitwiseAND(F.lit((1 << HASH_PART_BITS) - 1))
    return F.sum(F.when(of_side, part).otherwise(0))


def whole_hash(parts: list[int]) -> int:
    """The sum of 64-bit hashes, modulo 2^64, from the sums of their parts."""
    return reduce(add, (part << (index * HASH_PART_BITS) for index, part in enumerate(parts))) % 2**64
