import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/** An Admin. */
final class Administering implements Handle {
    private final Admin admin;

    Administering(Map<String, Object> settings) {
        admin = Admin.create(settings);
    }

    @Override
    public Object run(String op, JsonNode request) throws Exception {
        return switch (op) {
            case "create_topic" -> createTopic(request);
            case "delete_topic" -> admin.deleteTopics(names(request)).all().get();
            case "list_topics" -> admin.listTopics().names().get();
            case "describe_topic" -> describeTopic(request.get("name").asText());
            case "create_partitions" -> admin.createPartitions(
                Map.of(request.get("name").asText(), NewPartitions.increaseTo(request.get("count").asInt()))).all().get();
            case "describe_configs" -> describeConfigs(resource(request));
            case "alter_configs" -> alterConfigs(resource(request), request.get("changes"));
            case "list_groups" -> listGroups();
            case "describe_group" -> describeGroup(request.get("name").asText());
            case "delete_group" -> admin.deleteConsumerGroups(names(request)).all().get();
            case "group_offsets" -> groupOffsets(request.get("name").asText());
            case "alter_group_offsets" -> alterGroupOffsets(request.get("name").asText(), request.get("offsets"));
            case "delete_group_offsets" -> admin.deleteConsumerGroupOffsets(
                request.get("name").asText(), Set.copyOf(Records.partitions(request.get("partitions")))).all().get();
            case "delete_records" -> admin.deleteRecords(Map.of(
                Records.partitions(request.get("partitions")).get(0),
                RecordsToDelete.beforeOffset(request.get("offset").asLong()))).all().get();
            case "list_offset" -> listOffset(
                Records.partitions(request.get("partitions")).get(0), request.get("timestamp").asLong());
            case "describe_cluster" -> describeCluster();
            case "close" -> close();
            default -> throw new IllegalArgumentException(op);
        };
    }

    private static List<String> names(JsonNode request) {
        return List.of(request.get("name").asText());
    }

    private Object close() {
        admin.close();
        return null;
    }

    private Object createTopic(JsonNode request) throws Exception {
        Map<String, String> configs = new HashMap<>();
        request.get("configs").properties().forEach(entry -> configs.put(entry.getKey(), entry.getValue().asText()));
        NewTopic topic = new NewTopic(
            request.get("name").asText(), request.get("partitions").asInt(), (short) request.get("replication").asInt());
        CreateTopicsOptions options = new CreateTopicsOptions().validateOnly(request.get("validate_only").asBoolean());
        return admin.createTopics(List.of(topic.configs(configs)), options).all().get();
    }

    private List<Object> describeTopic(String name) throws Exception {
        TopicDescription topic = admin.describeTopics(List.of(name)).allTopicNames().get().get(name);
        List<Object> partitions = new ArrayList<>();
        topic.partitions().forEach(partition -> partitions.add(List.of(
            partition.partition(),
            partition.leader().id(),
            partition.replicas().stream().map(node -> node.id()).toList(),
            partition.isr().stream().map(node -> node.id()).toList())));
        return partitions;
    }

    private static ConfigResource resource(JsonNode request) {
        return new ConfigResource(
            ConfigResource.Type.valueOf(request.get("kind").asText().toUpperCase()), request.get("name").asText());
    }

    private Map<String, Object> describeConfigs(ConfigResource resource) throws Exception {
        Map<String, Object> configs = new TreeMap<>();
        for (ConfigEntry entry : admin.describeConfigs(List.of(resource)).all().get().get(resource).entries()) {
            Map<String, Object> fields = new HashMap<>();
            fields.put("value", entry.value());
            fields.put("source", entry.source().name());
            configs.put(entry.name(), fields);
        }
        return configs;
    }

    private Object alterConfigs(ConfigResource resource, JsonNode changes) throws Exception {
        Collection<AlterConfigOp> ops = new ArrayList<>();
        changes.forEach(change -> ops.add(new AlterConfigOp(
            new ConfigEntry(change.get(1).asText(), change.get(2).isNull() ? null : change.get(2).asText()),
            AlterConfigOp.OpType.valueOf(change.get(0).asText().toUpperCase()))));
        return admin.incrementalAlterConfigs(Map.of(resource, ops)).all().get();
    }

    private List<String> listGroups() throws Exception {
        return admin.listGroups().all().get().stream().map(GroupListing::groupId).toList();
    }

    private Map<String, Object> describeGroup(String name) throws Exception {
        ConsumerGroupDescription group = admin.describeConsumerGroups(List.of(name)).all().get().get(name);
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("state", group.groupState().toString());
        fields.put("assignor", group.partitionAssignor());
        fields.put("members", group.members().stream().map(member -> List.of(
            member.clientId(), Records.pairs(member.assignment().topicPartitions()))).toList());
        return fields;
    }

    private List<Object> groupOffsets(String group) throws Exception {
        Map<TopicPartition, Object> offsets = new HashMap<>();
        admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().forEach(
            (partition, found) -> offsets.put(partition, found == null ? null : List.of(found.offset(), found.metadata())));
        return Records.byPartition(offsets);
    }

    private Object alterGroupOffsets(String group, JsonNode offsets) throws Exception {
        Map<TopicPartition, OffsetAndMetadata> wanted = new HashMap<>();
        offsets.forEach(entry -> wanted.put(
            Records.partition(entry.get(0)), new OffsetAndMetadata(entry.get(1).asLong(), Optional.empty(), "")));
        return admin.alterConsumerGroupOffsets(group, wanted).all().get();
    }

    private List<Object> listOffset(TopicPartition partition, long timestamp) throws Exception {
        OffsetSpec spec = switch ((int) Math.min(timestamp, 0)) {
            case -1 -> OffsetSpec.latest();
            case -2 -> OffsetSpec.earliest();
            case -3 -> OffsetSpec.maxTimestamp();
            default -> OffsetSpec.forTimestamp(timestamp);
        };
        var found = admin.listOffsets(Map.of(partition, spec)).all().get().get(partition);
        return List.of(found.offset(), found.timestamp());
    }

    private Map<String, Object> describeCluster() throws Exception {
        var cluster = admin.describeCluster();
        return Map.of(
            "cluster_id", cluster.clusterId().get(),
            "controller", cluster.controller().get().id(),
            "nodes", cluster.nodes().get().stream().map(node -> node.id()).toList());
    }
}
