import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/** JSON and Kafka's own types. Bytes are base64, a partition is [topic, number], a map by partition is a list of pairs. */
final class Records {
    static Map<String, Object> settings(JsonNode node) {
        Map<String, Object> settings = new HashMap<>();
        node.properties().forEach(entry -> settings.put(entry.getKey(), entry.getValue().asText()));
        return settings;
    }

    static byte[] bytes(JsonNode node) {
        return node == null || node.isNull() ? null : Base64.getDecoder().decode(node.asText());
    }

    static String text(byte[] data) {
        return data == null ? null : Base64.getEncoder().encodeToString(data);
    }

    static TopicPartition partition(JsonNode node) {
        return new TopicPartition(node.get(0).asText(), node.get(1).asInt());
    }

    static List<TopicPartition> partitions(JsonNode nodes) {
        List<TopicPartition> partitions = new ArrayList<>();
        nodes.forEach(node -> partitions.add(partition(node)));
        return partitions;
    }

    static List<String> names(JsonNode nodes) {
        List<String> names = new ArrayList<>();
        nodes.forEach(node -> names.add(node.asText()));
        return names;
    }

    static List<Object> pair(TopicPartition partition) {
        return List.of(partition.topic(), partition.partition());
    }

    static List<Object> pairs(Iterable<TopicPartition> partitions) {
        List<Object> pairs = new ArrayList<>();
        partitions.forEach(partition -> pairs.add(pair(partition)));
        return pairs;
    }

    /** [[topic, number], value] for each entry, in a stable order. */
    static <V> List<Object> byPartition(Map<TopicPartition, V> values) {
        Map<String, Object> sorted = new TreeMap<>();
        values.forEach((partition, value) -> {
            List<Object> entry = new ArrayList<>();
            entry.add(pair(partition));
            entry.add(value);
            sorted.put(partition.toString(), entry);
        });
        return new ArrayList<>(sorted.values());
    }

    static ProducerRecord<byte[], byte[]> toSend(String topic, JsonNode node) {
        List<Header> headers = new ArrayList<>();
        node.get("headers").forEach(header -> headers.add(new RecordHeader(header.get(0).asText(), bytes(header.get(1)))));
        JsonNode partition = node.get("partition");
        JsonNode timestamp = node.get("timestamp_ms");
        return new ProducerRecord<>(
            topic,
            partition.isNull() ? null : partition.asInt(),
            timestamp.isNull() ? null : timestamp.asLong(),
            bytes(node.get("key")),
            bytes(node.get("value")),
            headers);
    }

    static Map<String, Object> received(ConsumerRecord<byte[], byte[]> record) {
        List<Object> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            List<Object> entry = new ArrayList<>();
            entry.add(header.key());
            entry.add(text(header.value()));
            headers.add(entry);
        }
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("topic", record.topic());
        fields.put("partition", record.partition());
        fields.put("offset", record.offset());
        fields.put("timestamp_ms", record.timestamp());
        fields.put("timestamp_type", record.timestampType().id);
        fields.put("key", text(record.key()));
        fields.put("value", text(record.value()));
        fields.put("headers", headers);
        return fields;
    }
}
