// Asks Kafka's own classes about configs. One question per line of standard input, one answer per line of output.
// A question is a word and texts in base64, parted by spaces:
//   properties TEXT           -> the names and values that java.util.Properties reads, or "!" and the complaint
//   broker NAME VALUE ...     -> whether a broker could have these properties: nothing, or "!" and the complaint
//   topic NAME VALUE ...      -> whether a topic could have these configs while remote storage is on

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import kafka.server.KafkaConfig;
import org.apache.kafka.storage.internals.log.LogConfig;

public class ConfigOracle {
    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] question = line.split(" ");
            for (int i = 1; i < question.length; i++) question[i] = decode(question[i]);
            String answer;
            try {
                answer = answer(question);
            } catch (Throwable complaint) {
                answer = "!" + encode(String.valueOf(complaint.getMessage()));
            }
            System.out.println(answer);
        }
    }

    private static String answer(String[] question) throws Exception {
        switch (question[0]) {
            case "properties": return properties(question[1]);
            case "broker": KafkaConfig.fromProps(pairs(question), false); return "";
            case "topic": checkTopic(pairs(question)); return "";
            default: throw new IllegalArgumentException(question[0]);
        }
    }

    private static String properties(String text) throws Exception {
        Properties read = new Properties();
        read.load(new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1)));
        StringBuilder answer = new StringBuilder();
        for (Map.Entry<Object, Object> entry : new TreeMap<>(read).entrySet())
            answer.append(encode((String) entry.getKey())).append(' ').append(encode((String) entry.getValue())).append(' ');
        return answer.toString();
    }

    private static void checkTopic(Properties configs) {
        Map<String, String> texts = new HashMap<>();
        for (String name : configs.stringPropertyNames()) texts.put(name, configs.getProperty(name));
        Map<String, Object> defaults = new HashMap<>(LogConfig.configDefCopy().defaultValues());
        LogConfig.validate(Map.of(), texts, defaults, true);
    }

    private static Properties pairs(String[] question) {
        Properties pairs = new Properties();
        for (int i = 1; i + 1 < question.length; i += 2) pairs.setProperty(question[i], question[i + 1]);
        return pairs;
    }

    private static String encode(String text) {
        return "=" + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String decode(String text) {
        return new String(Base64.getDecoder().decode(text.substring(1)), StandardCharsets.UTF_8);
    }
}
