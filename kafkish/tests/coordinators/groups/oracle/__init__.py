"""The group coordinator beside Apache Kafka's: the same requests to both, over the wire and on the runtime."""
