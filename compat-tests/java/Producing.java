import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A KafkaProducer. */
final class Producing implements Handle {
    private final KafkaProducer<byte[], byte[]> producer;

    Producing(Map<String, Object> settings) {
        producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    @Override
    public Object run(String op, JsonNode request) throws Exception {
        switch (op) {
            case "send" -> {
                return send(request.get("topic").asText(), request.get("records"));
            }
            case "init_transactions" -> producer.initTransactions();
            case "begin" -> producer.beginTransaction();
            case "commit" -> producer.commitTransaction();
            case "abort" -> producer.abortTransaction();
            case "close" -> producer.close();
            default -> throw new IllegalArgumentException(op);
        }
        return null;
    }

    private List<Object> send(String topic, JsonNode records) throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (JsonNode record : records) {
            sent.add(producer.send(Records.toSend(topic, record)));
        }
        producer.flush();
        List<Object> where = new ArrayList<>();
        for (Future<RecordMetadata> future : sent) {
            RecordMetadata metadata = future.get();
            where.add(List.of(metadata.partition(), metadata.offset()));
        }
        return where;
    }
}
