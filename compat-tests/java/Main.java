import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.protocol.Errors;

/**
 * Kafka's Java clients and tools in one JVM, driven by lines of JSON.
 *
 * <p>A line in: {"id": 7, "op": "consumer.poll", "on": "3", ...}. A line out: {"id": 7, "result": ...} or
 * {"id": 7, "error": {...}}. Requests run side by side; those on one consumer run one at a time. When its input ends
 * the JVM halts: members of groups vanish without leaving.
 */
public final class Main {
    private static final Set<Class<?>> WRAPPERS =
        Set.of(ExecutionException.class, CompletionException.class, InvocationTargetException.class);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final PrintStream OUT = System.out;
    private static final Map<String, Handle> HANDLES = new ConcurrentHashMap<>();
    private static final AtomicInteger COUNT = new AtomicInteger();

    public static void main(String[] arguments) throws Exception {
        System.setOut(System.err); // what a tool's threads print late must not mix with the replies
        ExecutorService pool = Executors.newCachedThreadPool();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode request = JSON.readTree(line);
            pool.submit(() -> answer(request));
        }
        Runtime.getRuntime().halt(0);
    }

    private static void answer(JsonNode request) {
        Map<String, Object> reply = new LinkedHashMap<>();
        reply.put("id", request.get("id").asInt());
        try {
            reply.put("result", run(request));
        } catch (Throwable error) {
            reply.put("error", describe(error));
        }
        try {
            String line = JSON.writeValueAsString(reply);
            synchronized (OUT) {
                OUT.println(line);
                OUT.flush();
            }
        } catch (Exception error) {
            error.printStackTrace();
        }
    }

    private static Object run(JsonNode request) throws Exception {
        String[] op = request.get("op").asText().split("\\.");
        if (op[0].equals("tool")) {
            return Tools.run(request);
        }
        if (op[0].equals("message")) {
            return op[1].equals("send") ? Messages.send(request) : Messages.lowest(request);
        }
        if (op[1].equals("open")) {
            Map<String, Object> settings = Records.settings(request.get("settings"));
            return keep(switch (op[0]) {
                case "producer" -> new Producing(settings);
                case "consumer" -> new Consuming(settings);
                default -> new Administering(settings);
            });
        }
        String name = request.get("on").asText();
        Handle handle = op[1].equals("close") ? HANDLES.remove(name) : HANDLES.get(name);
        synchronized (handle) {
            return handle.run(op[1], request);
        }
    }

    private static String keep(Handle handle) {
        String name = Integer.toString(COUNT.incrementAndGet());
        HANDLES.put(name, handle);
        return name;
    }

    private static Map<String, Object> describe(Throwable thrown) {
        Throwable cause = thrown;
        while (WRAPPERS.contains(cause.getClass()) && cause.getCause() != null) {
            cause = cause.getCause();
        }
        Map<String, Object> error = new LinkedHashMap<>();
        error.put("code", Errors.forException(cause).code());
        error.put("name", cause.getClass().getSimpleName());
        error.put("message", String.valueOf(cause.getMessage()));
        return error;
    }
}
