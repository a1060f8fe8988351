import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.controller.PartitionChangeBuilder;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * Changes partitions with Kafka's own PartitionChangeBuilder.
 *
 * A line of input has, with tabs between: the partition's record in hex; the election; who may lead; min ISR; whether there
 * are eligible leader replicas; metadata.version; and the wanted ISR, replicas, removing and adding replicas, recovery
 * state, uncleanly stopped replicas and directory of a broker, or "-" for as they are. Numbers have commas between. The
 * line of output is the change's record in hex, or "-" for none.
 */
public class PartitionChanges {
    private static final HexFormat HEX = HexFormat.of();

    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        StringBuilder output = new StringBuilder();
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            Optional<ApiMessageAndVersion> change = builder(line.split("\t", -1)).build();
            output.append(change.map(PartitionChanges::write).orElse("-")).append('\n');
        }
        System.out.print(output);
    }

    private static PartitionChangeBuilder builder(String[] words) {
        ByteBuffer value = ByteBuffer.wrap(HEX.parseHex(words[0]));
        PartitionRecord record = (PartitionRecord)
            MetadataRecordSerde.INSTANCE.read(new ByteBufferAccessor(value), value.remaining()).message();
        PartitionChangeBuilder builder = new PartitionChangeBuilder(
            new PartitionRegistration(record),
            record.topicId(),
            record.partitionId(),
            numbers(words[2])::contains,
            MetadataVersion.fromFeatureLevel(Short.parseShort(words[5])),
            Integer.parseInt(words[3]),
            Boolean.parseBoolean(words[4]));
        builder.setElection(PartitionChangeBuilder.Election.valueOf(words[1]));
        builder.setDefaultDirProvider(PartitionChanges::directory);
        if (!words[6].equals("-")) builder.setTargetIsr(numbers(words[6]));
        if (!words[7].equals("-")) builder.setTargetReplicas(numbers(words[7]));
        if (!words[8].equals("-")) builder.setTargetRemoving(numbers(words[8]));
        if (!words[9].equals("-")) builder.setTargetAdding(numbers(words[9]));
        if (!words[10].equals("-")) {
            builder.setTargetLeaderRecoveryState(LeaderRecoveryState.of(Byte.parseByte(words[10])));
        }
        if (!words[11].equals("-")) builder.setUncleanShutdownReplicas(numbers(words[11]));
        if (!words[12].equals("-")) builder.setDirectory(Integer.parseInt(words[12]), new Uuid(77, 77));
        return builder;
    }

    private static List<Integer> numbers(String text) {
        List<Integer> found = new ArrayList<>();
        for (String word : text.split(",")) {
            if (!word.isEmpty()) found.add(Integer.parseInt(word));
        }
        return found;
    }

    private static Uuid directory(int brokerId) {
        long repeated = 0x0101010101010101L * (brokerId * 10);
        return new Uuid(repeated, repeated);
    }

    private static String write(ApiMessageAndVersion record) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer bytes = ByteBuffer.allocate(MetadataRecordSerde.INSTANCE.recordSize(record, cache));
        MetadataRecordSerde.INSTANCE.write(record, cache, new ByteBufferAccessor(bytes));
        return HEX.formatHex(bytes.array());
    }
}
