"""The controller's operations: what a request does to the cluster's metadata.

An operation is a function of an image, a request and a context. It returns the records that would make the change, and
the response; it changes nothing itself. The records take effect when the quorum has committed them and they are
replayed (`kafkish.metadata`), and then the response may leave.

    operation.py        Context, Result, ApiError; operations.py: all operations by API
    ports.py            what operations need of others; node_configs.py: of the config room
    bootstrap.py        the first records of a cluster; periodic.py: what a controller does by itself
    sessions.py         which brokers were heard of: the only thing here that is not in the image
    create_topics.py    ... and so on, one file for each API
    elections.py        who leads a partition, who is in sync: used by every operation that touches partitions

Knows no sockets, logs, clocks or dice: times, random ids and choices come in the context.
"""
