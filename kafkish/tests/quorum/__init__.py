"""The quorum: promises of one node, its files, its crashes."""
