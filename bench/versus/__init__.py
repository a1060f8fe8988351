"""kafkish beside Apache Kafka: the same load on both, in turns, and one report."""
