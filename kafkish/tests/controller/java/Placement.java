import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.metadata.placement.ClusterDescriber;
import org.apache.kafka.metadata.placement.PartitionAssignment;
import org.apache.kafka.metadata.placement.PlacementSpec;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.metadata.placement.UsableBroker;

/**
 * Places replicas with Kafka's own StripedReplicaPlacer.
 *
 * A line of input is a seed (-1: always draw 0), the number of partitions, the replication factor, and a word for each
 * broker: id, rack ("-" for none) and whether it is fenced, with colons between. The line of output has a word for each
 * partition: its replicas with commas between; or the refusal.
 */
public class Placement {
    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            List<UsableBroker> brokers = new ArrayList<>();
            for (int i = 3; i < words.length; i++) brokers.add(broker(words[i].split(":")));
            PlacementSpec spec = new PlacementSpec(0, Integer.parseInt(words[1]), Short.parseShort(words[2]));
            System.out.println(place(dice(Long.parseLong(words[0])), spec, brokers));
        }
    }

    private static String place(Random dice, PlacementSpec spec, List<UsableBroker> brokers) {
        try {
            List<String> placed = new ArrayList<>();
            for (PartitionAssignment it : new StripedReplicaPlacer(dice).place(spec, describer(brokers)).assignments()) {
                placed.add(it.replicas().toString().replaceAll("[\\[\\] ]", ""));
            }
            return String.join(" ", placed);
        } catch (Exception refusal) {
            return refusal.getMessage();
        }
    }

    private static UsableBroker broker(String[] parts) {
        Optional<String> rack = parts[1].equals("-") ? Optional.empty() : Optional.of(parts[1]);
        return new UsableBroker(Integer.parseInt(parts[0]), rack, Boolean.parseBoolean(parts[2]));
    }

    private static Random dice(long seed) {
        if (seed >= 0) return new Random(seed);
        return new Random() {
            @Override
            public int nextInt(int bound) {
                return 0;
            }
        };
    }

    private static ClusterDescriber describer(List<UsableBroker> brokers) {
        return new ClusterDescriber() {
            @Override
            public Iterator<UsableBroker> usableBrokers() {
                return brokers.iterator();
            }

            @Override
            public Uuid defaultDir(int brokerId) {
                return Uuid.ZERO_UUID;
            }
        };
    }
}
