import org.apache.kafka.common.protocol.Errors;

/** Prints Kafka's error codes, a number and a name on each line. */
public class ErrorCodes {
    public static void main(String[] arguments) {
        for (Errors error : Errors.values()) System.out.println(error.code() + " " + error.name());
    }
}
