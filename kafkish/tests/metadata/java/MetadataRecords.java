import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/**
 * Reads values of `__cluster_metadata` with Kafka's own serde and writes them again.
 *
 * A line of input is a value in hex; the line of output is the record's name, its version, and the value in hex as Kafka
 * writes it, with spaces between.
 */
public class MetadataRecords {
    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        StringBuilder output = new StringBuilder();
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            ByteBuffer value = ByteBuffer.wrap(HexFormat.of().parseHex(line));
            ApiMessageAndVersion record =
                MetadataRecordSerde.INSTANCE.read(new ByteBufferAccessor(value), value.remaining());
            output.append(record.message().getClass().getSimpleName()).append(' ').append(record.version()).append(' ');
            output.append(HexFormat.of().formatHex(write(record))).append('\n');
        }
        System.out.print(output);
    }

    private static byte[] write(ApiMessageAndVersion record) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer bytes = ByteBuffer.allocate(MetadataRecordSerde.INSTANCE.recordSize(record, cache));
        MetadataRecordSerde.INSTANCE.write(record, cache, new ByteBufferAccessor(bytes));
        return bytes.array();
    }
}
