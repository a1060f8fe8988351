import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.image.writer.ImageWriterOptions;
import org.apache.kafka.image.writer.RecordListWriter;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.server.common.ApiMessageAndVersion;

/**
 * Replays metadata records on Kafka's own image, batch by batch, and writes the image as a snapshot.
 *
 * A line of input is a record in hex. An empty line ends a batch; a line with a dot ends the story, and its snapshot comes
 * out: a record in hex on each line, and a line with a dot.
 */
public class MetadataImages {
    private static final HexFormat HEX = HexFormat.of();

    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        StringBuilder output = new StringBuilder();
        MetadataImage image = MetadataImage.EMPTY;
        MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            if (line.equals(".")) {
                write(image, output);
                image = MetadataImage.EMPTY;
                delta = new MetadataDelta.Builder().setImage(image).build();
            } else if (line.isEmpty()) {
                image = delta.apply(MetadataProvenance.EMPTY);
                delta = new MetadataDelta.Builder().setImage(image).build();
            } else {
                ByteBuffer value = ByteBuffer.wrap(HEX.parseHex(line));
                delta.replay(MetadataRecordSerde.INSTANCE.read(new ByteBufferAccessor(value), value.remaining()).message());
            }
        }
        System.out.print(output);
    }

    private static void write(MetadataImage image, StringBuilder output) {
        RecordListWriter writer = new RecordListWriter();
        image.write(writer, new ImageWriterOptions.Builder(image).setEligibleLeaderReplicasEnabled(true).build());
        for (ApiMessageAndVersion record : writer.records()) {
            ObjectSerializationCache cache = new ObjectSerializationCache();
            ByteBuffer bytes = ByteBuffer.allocate(MetadataRecordSerde.INSTANCE.recordSize(record, cache));
            MetadataRecordSerde.INSTANCE.write(record, cache, new ByteBufferAccessor(bytes));
            output.append(HEX.formatHex(bytes.array())).append('\n');
        }
        output.append(".\n");
    }
}
