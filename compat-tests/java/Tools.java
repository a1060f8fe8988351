import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.utils.Exit;

/** Kafka's command-line tools, called by their main method as their scripts do, one at a time. */
final class Tools {
    /** Leaves a tool where it would have ended the JVM. Some tools catch it, report it, and exit again. */
    private static final class Exited extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    static synchronized Map<String, Object> run(JsonNode request) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        PrintStream savedOut = System.out;
        PrintStream savedErr = System.err;
        InputStream savedIn = System.in;
        System.setIn(new ByteArrayInputStream(request.get("input").asText().getBytes(StandardCharsets.UTF_8)));
        try {
            String[] arguments = Records.names(request.get("arguments")).toArray(new String[0]);
            int status = call(Class.forName(request.get("tool").asText()), arguments, () -> print(out, err));
            return Map.of(
                "status", status, "out", out.toString(StandardCharsets.UTF_8), "err", err.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(savedOut);
            System.setErr(savedErr);
            System.setIn(savedIn);
        }
    }

    private static void print(OutputStream out, OutputStream err) {
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    /** The status that the tool first asked to exit with, or 0 if its main method returned. */
    private static int call(Class<?> tool, String[] arguments, Runnable capture) throws Exception {
        AtomicReference<Integer> status = new AtomicReference<>();
        Exit.Procedure exit = (code, message) -> {
            if (status.compareAndSet(null, code) && message != null) {
                System.err.println(message);
            }
            print(OutputStream.nullOutputStream(), OutputStream.nullOutputStream());
            throw new Exited();
        };
        List<Runnable> hooks = new CopyOnWriteArrayList<>();
        Exit.setExitProcedure(exit);
        Exit.setHaltProcedure(exit);
        Exit.setShutdownHookAdder((name, hook) -> hooks.add(hook));
        forgetCount(tool);
        capture.run();
        try {
            tool.getMethod("main", String[].class).invoke(null, (Object) arguments);
        } catch (InvocationTargetException thrown) {
            if (status.compareAndSet(null, 1)) {
                thrown.getCause().printStackTrace();
            }
        }
        capture.run();
        hooks.forEach(Runnable::run);
        return status.get() == null ? 0 : status.get();
    }

    /** ConsoleConsumer counts in a static field, since it expects a JVM of its own. */
    private static void forgetCount(Class<?> tool) throws IllegalAccessException {
        for (Field field : tool.getDeclaredFields()) {
            if (field.getName().equals("messageCount")) {
                field.setAccessible(true);
                field.setInt(null, 0);
            }
        }
    }
}
