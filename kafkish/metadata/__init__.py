"""The cluster's metadata: an immutable image, and how committed records change it.

    image.py            the image, with nodes.py and topics.py
    records.py          a record as bytes of `__cluster_metadata`
    delta.py            records on top of an image: a new image, and what changed
    loader.py           batches and snapshots in, images out; metadata transactions
    snapshot.py         an image as records

Knows nothing of who wrote a record, nor of logs, sockets or clocks.
"""
