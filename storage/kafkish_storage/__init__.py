"""A segmented, append-only log of opaque record batches, in Kafka's own file formats."""
