"""mirror: the same topics on another cluster, partition by partition, with their source's offsets in a header.

Written at least once; a reader with `deduplicate` sees each record once, because a record that is written again after a
crash has the same header. See `coordinates`.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kafkish.pipelines.coordinates import SOURCE_HEADER, source_coordinates, with_header


def mirror_rows(records: DataFrame, prefix: str = "") -> DataFrame:
    """Records of topics, to be written to the same partitions of topics of the same names, or with a prefix."""
    return records.select(
        F.concat(F.lit(prefix), "topic").alias("topic"),
        "partition",
        "key",
        "value",
        with_header(F.col("headers"), SOURCE_HEADER, source_coordinates()).alias("headers"),
    )
