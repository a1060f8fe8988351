import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.Readable;

/**
 * Writes messages with Kafka's own classes.
 *
 * A line of input is a message's name, a version and the message as JSON, with tabs between; the line of output is the
 * message in hex, as Kafka writes it. Kafka also reads its bytes again and compares.
 */
public class MessageCodec {
    private static final String[] PACKAGES = {
        "org.apache.kafka.common.message.",
        "org.apache.kafka.common.metadata.",
        "org.apache.kafka.coordinator.group.generated.",
        "org.apache.kafka.coordinator.share.generated.",
        "org.apache.kafka.coordinator.transaction.generated.",
        "org.apache.kafka.raft.generated.",
        "org.apache.kafka.server.log.remote.metadata.storage.generated.",
    };

    private record Converter(Method fromJson, Constructor<?> fromBytes) {}

    public static void main(String[] arguments) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        Map<String, Converter> converters = new HashMap<>();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream output = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] parts = line.split("\t", 3);
            short version = Short.parseShort(parts[1]);
            if (!converters.containsKey(parts[0])) converters.put(parts[0], find(parts[0]));
            output.println(encode(converters.get(parts[0]), version, mapper.readTree(parts[2])));
        }
        output.flush();
    }

    private static Converter find(String name) throws Exception {
        for (String prefix : PACKAGES) {
            for (String suffix : new String[] {"Data", ""}) {
                try {
                    Class<?> message = Class.forName(prefix + name + suffix);
                    Class<?> json = Class.forName(prefix + name + suffix + "JsonConverter");
                    return new Converter(
                        json.getMethod("read", JsonNode.class, short.class),
                        message.getConstructor(Readable.class, short.class));
                } catch (ClassNotFoundException next) {
                    // in another package, or under the other name
                }
            }
        }
        throw new IllegalArgumentException("Kafka has no message " + name);
    }

    private static String encode(Converter converter, short version, JsonNode json) throws Exception {
        Message message = (Message) converter.fromJson().invoke(null, json, version);
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        buffer.flip();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        Object again = converter.fromBytes().newInstance(new ByteBufferAccessor(buffer), version);
        if (!again.equals(message)) throw new IllegalStateException("Kafka reads " + again + " for " + message);
        return HexFormat.of().formatHex(bytes);
    }
}
