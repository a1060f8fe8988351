import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Kafka's own clients. `produce` sends records given as lines of JSON; `consume` prints a topic's records so. */
public class Records {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("produce")) produce(arguments[1], arguments[2], arguments[3]);
        else for (int i = 2; i + 1 < arguments.length; i += 2) consume(arguments[1], arguments[i], Integer.parseInt(arguments[i + 1]));
    }

    private static void produce(String address, String topic, String compression) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", address);
        settings.put("compression.type", compression);
        settings.put("linger.ms", "1000");
        settings.put("batch.size", "1000000");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (var producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                JsonNode record = MAPPER.readTree(line);
                List<Header> headers = new ArrayList<>();
                for (JsonNode header : record.get("headers"))
                    headers.add(new RecordHeader(header.get(0).asText(), header.get(1).binaryValue()));
                producer.send(new ProducerRecord<>(
                    topic, 0, record.get("timestamp").asLong(), record.get("key").binaryValue(),
                    record.get("value").binaryValue(), headers));
            }
        }
    }

    private static void consume(String address, String topic, int count) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", address);
        settings.put("check.crcs", "true");
        int seen = 0;
        try (var consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = List.of(new TopicPartition(topic, 0));
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            while (seen < count) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
                    System.out.println(describe(record));
                    seen++;
                }
            }
        }
    }

    private static String describe(ConsumerRecord<byte[], byte[]> record) throws Exception {
        ObjectNode described = MAPPER.createObjectNode();
        described.put("offset", record.offset()).put("timestamp", record.timestamp());
        described.put("key", record.key()).put("value", record.value());
        ArrayNode headers = described.putArray("headers");
        for (Header header : record.headers()) headers.addArray().add(header.key()).add(header.value());
        return MAPPER.writeValueAsString(described);
    }
}
