// A member of a group, or a producer, with KafkaJS. See programs.py for what it is told and what it prints.
const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = require("kafkajs");

CompressionCodecs[CompressionTypes.Snappy] = require("kafkajs-snappy");

const CODECS = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP, snappy: CompressionTypes.Snappy };

const tell = (line) => process.stdout.write(JSON.stringify(line) + "\n");

const client = (address) => new Kafka({ clientId: "compat-tests", brokers: [address], logLevel: logLevel.ERROR });

async function member(address, group, topic) {
  const consumer = client(address).consumer({
    groupId: group, sessionTimeout: 6000, heartbeatInterval: 300, maxWaitTimeInMs: 200, // its assigner is round robin
  });
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => tell({ assigned: payload.memberAssignment[topic] || [] }));
  consumer.on(consumer.events.REBALANCING, () => tell({ assigned: [] }));
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  process.on("SIGTERM", () => consumer.disconnect());
  await consumer.run({
    eachMessage: async ({ partition, message }) =>
      tell({ record: [partition, Number(message.offset), message.value.toString()] }),
  });
}

async function produce(address, topic, codec) {
  const lines = require("fs").readFileSync(0, "utf8").split("\n").filter((line) => line !== "");
  const producer = client(address).producer({ idempotent: true });
  await producer.connect();
  const sent = await producer.send({
    topic, acks: -1, compression: CODECS[codec], messages: lines.map((value) => ({ value })),
  });
  sent.forEach(({ partition, baseOffset }) => tell({ sent: [partition, Number(baseOffset)] }));
  await producer.disconnect();
}

const [, , what, ...told] = process.argv;
({ member, produce })[what](...told).catch((error) => {
  console.error(error);
  process.exit(1);
});
