import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A KafkaConsumer. */
final class Consuming implements Handle {
    private final KafkaConsumer<byte[], byte[]> consumer;

    Consuming(Map<String, Object> settings) {
        consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    @Override
    public Object run(String op, JsonNode request) {
        List<TopicPartition> partitions =
            request.has("partitions") ? Records.partitions(request.get("partitions")) : List.of();
        switch (op) {
            case "poll" -> {
                List<Object> records = new ArrayList<>();
                consumer.poll(Duration.ofMillis(request.get("timeout_ms").asLong()))
                    .forEach(record -> records.add(Records.received(record)));
                return records;
            }
            case "assignment" -> {
                return Records.pairs(consumer.assignment());
            }
            case "position" -> {
                return consumer.position(partitions.get(0));
            }
            case "committed" -> {
                OffsetAndMetadata found = consumer.committed(Set.copyOf(partitions)).get(partitions.get(0));
                return found == null ? null : found.offset();
            }
            case "start_offsets" -> {
                return Records.byPartition(consumer.beginningOffsets(partitions));
            }
            case "end_offsets" -> {
                return Records.byPartition(consumer.endOffsets(partitions));
            }
            case "offsets_for_times" -> {
                return offsetsForTimes(request.get("times"));
            }
            case "subscribe" -> consumer.subscribe(Records.names(request.get("topics")));
            case "subscribe_pattern" -> consumer.subscribe(Pattern.compile(request.get("pattern").asText()));
            case "assign" -> consumer.assign(partitions);
            case "seek" -> consumer.seek(partitions.get(0), request.get("offset").asLong());
            case "pause" -> consumer.pause(partitions);
            case "resume" -> consumer.resume(partitions);
            case "commit" -> commit(request.get("offsets"));
            case "close" -> consumer.close();
            default -> throw new IllegalArgumentException(op);
        }
        return null;
    }

    private void commit(JsonNode offsets) {
        Map<TopicPartition, OffsetAndMetadata> toCommit = new HashMap<>();
        offsets.forEach(entry -> toCommit.put(
            Records.partition(entry.get(0)),
            new OffsetAndMetadata(entry.get(1).asLong(), Optional.empty(), entry.get(2).asText())));
        consumer.commitSync(toCommit);
    }

    private List<Object> offsetsForTimes(JsonNode times) {
        Map<TopicPartition, Long> asked = new HashMap<>();
        times.forEach(entry -> asked.put(Records.partition(entry.get(0)), entry.get(1).asLong()));
        Map<TopicPartition, Long> found = new HashMap<>();
        consumer.offsetsForTimes(asked)
            .forEach((partition, answer) -> found.put(partition, answer == null ? null : answer.offset()));
        return Records.byPartition(found);
    }
}
