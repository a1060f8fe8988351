"""Configs: which there are, what they may be, where they were set, and what they amount to.

Pure but for `load`, which reads one file. Knows nothing of topics, groups or connections beyond their configs.

    load          server.properties and --set          -> Settings
    settings      what the broker uses, by concern, typed
    node          NodeConfigs: the layers of one broker's configs
    describe      the rows of DescribeConfigs
    alter         IncrementalAlterConfigs and AlterConfigs -> changes
    validate      whether a resource may have some configs
    effective     configs of a topic or a group        -> values for its log or its coordinator
    tables        every config of Kafka 4.3, and kafkish's own
"""
