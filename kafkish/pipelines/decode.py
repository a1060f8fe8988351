"""Bytes to columns. A record that does not decode keeps its bytes and gets a reason; none is dropped.

Functions from DataFrame to DataFrame. `decoded` gives every record a `reason`, null when it is good; `good` and `bad`
take them apart.
"""

import re
from functools import reduce
from operator import and_
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro, to_avro

from kafkish.pipelines.ddl import Schema
from kafkish.pipelines.model import Decoder

REASON: Final = "kafkish_reason"
FIELDS: Final = "kafkish_fields"
ORIGIN: Final = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")
"""What a record of a topic is, beside its decoded fields."""

_CORRUPT: Final = "kafkish_corrupt"
_CONFLUENT_PREFIX_BYTES: Final = 5


def decoded(records: DataFrame, decoder: Decoder) -> DataFrame:
    """Records with two more columns: what their value says, as a struct, and why they are bad."""
    if decoder.format == "json":
        assert decoder.schema is not None
        return json_decoded(records, decoder.schema)
    if decoder.format == "avro":
        return avro_decoded(records, decoder)
    if decoder.format == "string":
        return string_decoded(records)
    return records.withColumn(REASON, F.lit(None).cast("string"))


def good(records: DataFrame, format: str) -> DataFrame:
    """The records that decoded: their fields, and `kafka` or `file`, which says where they came from."""
    kept = records.where(F.col(REASON).isNull())
    if format == "raw":
        return kept.drop(REASON)
    if format == "string":
        return kept.drop(REASON).withColumns({name: F.col(name).cast("string") for name in ("key", "value")})
    if "file" in records.columns:
        return kept.select(f"{FIELDS}.*", "file")
    return kept.select(f"{FIELDS}.*", F.struct(*[name for name in ORIGIN if name != "value"]).alias("kafka"))


def bad(records: DataFrame) -> DataFrame:
    """The records that did not decode: the reason, and all that they were."""
    kept = ("file", "value") if "file" in records.columns else ORIGIN
    return records.where(F.col(REASON).isNotNull()).select(F.col(REASON).alias("reason"), *kept)


def failing(records: DataFrame) -> DataFrame:
    """The records, of which the first bad one stops the run with a message that names it."""
    names = ("file",) if "file" in records.columns else ("topic", "partition", "offset")
    place = [F.concat(F.lit(f"{name} "), F.col(name).cast("string")) for name in names]
    told = F.concat(F.lit("bad record: "), F.concat_ws(", ", *place), F.lit(": "), F.col(REASON))
    return records.where(F.when(F.col(REASON).isNotNull(), F.raise_error(told).cast("boolean")).otherwise(True))


# -- formats


def string_decoded(records: DataFrame) -> DataFrame:
    """Key and value as text."""
    reason = F.when(~F.is_valid_utf8(F.col("value").cast("string")), "the value is not UTF-8").when(
        ~F.is_valid_utf8(F.col("key").cast("string")), "the key is not UTF-8"
    )
    return records.withColumn(REASON, reason)


def json_decoded(records: DataFrame, schema: Schema) -> DataFrame:
    """One JSON object in each value. Types must fit; columns that are NOT NULL must be there."""
    text = F.col("value").cast("string")
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
    parsed = _with_fields(records, F.from_json(text, f"{schema.text}, {_CORRUPT} STRING", options))
    corrupt = F.col(FIELDS)[_CORRUPT].isNotNull()
    reason = (
        F.when(F.col("value").isNull(), "no value (a tombstone)")
        .when(~F.is_valid_utf8(text), "not UTF-8")
        .when(~_is_one_object(text), "not one JSON object")
        .when(corrupt, _misfit(text, schema))
    )
    for column in schema.columns:
        if column.required:
            reason = reason.when(F.col(FIELDS)[column.name].isNull(), f"{column.name} is missing")
    return parsed.withColumn(REASON, reason).withColumn(FIELDS, F.col(FIELDS).dropFields(_CORRUPT))


def _with_fields(records: DataFrame, parsed: Column) -> DataFrame:
    """Parse once. As a mere column the parser would run again for every field that a query names."""
    return records.select("*", F.explode(F.array(parsed)).alias(FIELDS))


def _is_one_object(text: Column) -> Column:
    """from_json takes the first object and says nothing of what follows it."""
    braces = F.trim(text).startswith("{") & F.trim(text).endswith("}")
    return braces & (F.coalesce(F.json_array_length(F.concat(F.lit("["), text, F.lit("]"))), F.lit(0)) == 1)


def _misfit(text: Column, schema: Schema) -> Column:
    """Which field does not have its type: the first that is in the text and came out null."""
    told = F.lit("does not fit the schema")
    for column in reversed(schema.columns):
        given = F.get_json_object(text, f"$['{column.name}']")
        misfits = given.isNotNull() & (given != "null") & F.col(FIELDS)[column.name].isNull()
        shown = F.concat(F.lit(f"{column.name}: "), F.substring(given, 1, 40), F.lit(f" is not {column.type}"))
        told = F.when(misfits, shown).otherwise(told)
    return told


def avro_decoded(records: DataFrame, decoder: Decoder) -> DataFrame:
    """One Avro datum in each value, written with the schema of the file."""
    value = F.col("value")
    prefix_bytes = _CONFLUENT_PREFIX_BYTES if decoder.confluent else 0
    datum = F.substring(value, prefix_bytes + 1, 2**31 - 1)
    parsed = _with_fields(records, from_avro(datum, decoder.avro_schema, {"mode": "PERMISSIVE"}))
    reason = F.when(value.isNull(), "no value (a tombstone)")
    if decoder.confluent:
        framed = F.startswith(value, F.lit(b"\x00")) & (F.length(value) > prefix_bytes)
        reason = reason.when(~framed, "no prefix of a schema registry: a zero byte and the schema's id")
    reason = reason.when(F.col(FIELDS).isNull() | _unreadable(parsed, datum), "not Avro of this schema")
    if not re.search(r'"(array|map)"', decoder.avro_schema):  # their blocks may be written in several ways
        rewritten = F.length(to_avro(F.col(FIELDS), decoder.avro_schema))
        reason = reason.when(rewritten != F.length(datum), "not Avro of this schema: bytes are left over")
    return parsed.withColumn(REASON, reason)


def _unreadable(parsed: DataFrame, datum: Column) -> Column:
    """from_avro makes a record of nulls of bytes that it cannot read. A true one has one byte for each field."""
    fields: Any = parsed.schema[FIELDS].dataType
    all_null = reduce(and_, (F.col(FIELDS)[field.name].isNull() for field in fields), F.lit(True))
    return all_null & (F.length(datum) != len(fields))
