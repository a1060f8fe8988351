"""One module for each API: a request and what it is answered. Knows no files, no raft, no clock."""
