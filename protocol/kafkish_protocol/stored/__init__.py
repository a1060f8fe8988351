"""What Kafka keeps in its own topics and files, one module for each place."""
