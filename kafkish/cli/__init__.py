"""The `kafkish` command: one module for each subcommand."""
