import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.DataInputStream;
import java.lang.reflect.Method;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.message.ResponseHeaderData;
import org.apache.kafka.common.protocol.ApiMessage;

import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

/** Single requests, written and read by Kafka's own classes from and to JSON. */
final class Messages {
    private static final String PACKAGE = "org.apache.kafka.common.message.";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern NOT_IN_VERSION = Pattern.compile("non-default (\\w+) at version");
    private static final int CORRELATION_ID = 4711;

    /** The lowest version of an API that Kafka's classes know. */
    static Object lowest(JsonNode request) {
        return ApiMessageType.fromApiKey((short) request.get("api").asInt()).lowestSupportedVersion();
    }

    /** Sends a request, and tells the response as JSON. Fields that are not given have their defaults. */
    static Object send(JsonNode request) throws Exception {
        ApiMessageType type = ApiMessageType.fromApiKey((short) request.get("api").asInt());
        short version = (short) request.get("version").asInt();
        String[] address = request.get("address").asText().split(":");
        try (Socket socket = new Socket(address[0], Integer.parseInt(address[1]))) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(frame(type, version, request.get("body")));
            DataInputStream input = new DataInputStream(socket.getInputStream());
            byte[] answer = new byte[input.readInt()];
            input.readFully(answer);
            return JSON.readTree(read(type, version, ByteBuffer.wrap(answer)));
        }
    }

    /** Leaves out, at any depth, the fields that Kafka says this version does not have. */
    private static byte[] frame(ApiMessageType type, short version, JsonNode given) throws Exception {
        while (true) {
            try {
                return frame(type, version, message(type, version, given));
            } catch (UnsupportedVersionException refused) {
                Matcher matcher = NOT_IN_VERSION.matcher(refused.getMessage());
                if (!matcher.find()) throw refused;
                List<JsonNode> holders = given.findParents(matcher.group(1));
                if (holders.isEmpty()) throw refused;
                holders.forEach(holder -> ((ObjectNode) holder).remove(matcher.group(1)));
            }
        }
    }

    private static ApiMessage message(ApiMessageType type, short version, JsonNode given) throws Exception {
        ApiMessage defaults = type.newRequest();
        Class<?> converter = Class.forName(PACKAGE + type.name + "RequestDataJsonConverter");
        Method write = converter.getMethod("write", defaults.getClass(), short.class);
        ObjectNode body = (ObjectNode) write.invoke(null, defaults, version);
        given.properties().stream().filter(field -> body.has(field.getKey())).forEach(
            field -> body.set(field.getKey(), field.getValue()));
        return (ApiMessage) converter.getMethod("read", JsonNode.class, short.class).invoke(null, body, version);
    }

    private static byte[] frame(ApiMessageType type, short version, ApiMessage body) {
        RequestHeaderData header = new RequestHeaderData()
            .setRequestApiKey(type.apiKey())
            .setRequestApiVersion(version)
            .setCorrelationId(CORRELATION_ID)
            .setClientId("compat-tests");
        ByteBuffer head = write(header, type.requestHeaderVersion(version));
        ByteBuffer tail = write(body, version);
        int size = head.remaining() + tail.remaining();
        return ByteBuffer.allocate(4 + size).putInt(size).put(head).put(tail).array();
    }

    private static ByteBuffer write(Message message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        return buffer.flip();
    }

    /** Every byte must be used, and Kafka must write the same bytes for what it read. */
    private static String read(ApiMessageType type, short version, ByteBuffer answer) throws Exception {
        ByteBufferAccessor readable = new ByteBufferAccessor(answer);
        ResponseHeaderData header = new ResponseHeaderData(readable, type.responseHeaderVersion(version));
        ByteBuffer bytes = answer.slice();
        ApiMessage body = type.newResponse();
        body.read(readable, version);
        if (header.correlationId() != CORRELATION_ID) throw new IllegalStateException("not our answer: " + header);
        if (answer.hasRemaining()) throw new IllegalStateException(answer.remaining() + " bytes too many: " + body);
        if (!write(body, version).equals(bytes)) throw new IllegalStateException("Kafka writes other bytes: " + body);
        Class<?> converter = Class.forName(PACKAGE + type.name + "ResponseDataJsonConverter");
        return converter.getMethod("write", body.getClass(), short.class).invoke(null, body, version).toString();
    }
}
