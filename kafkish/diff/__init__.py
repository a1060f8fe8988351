"""The same requests to two brokers, and where their replies differ.

    grammar, moves, members, vocabulary, batches    what is asked: requests, and record batches inside them
    script      requests as lines of a file
    symbols     what each broker names for itself: one name here for both
    exchange    connections, several at a time, to both
    compare     two replies, field by field
    fetched     the records in a reply
    deliberate  where kafkish differs and means to
    run         all of it, request by request

It speaks the protocol and knows nothing of the broker behind it: any two brokers can be compared.
"""
