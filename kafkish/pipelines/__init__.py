"""What users do with topics after they are written: archive, query, aggregate, join, backfill, mirror, verify.

Every job runs on Spark through its stock Kafka connector. The broker imports nothing of this package, and nothing here
imports the broker: an embedded one is a process of its own. A pipeline file is read and checked without Spark
(`document`, `model`, `reading`); pyspark is imported when a job runs.
"""
