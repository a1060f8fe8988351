// A member of a group, or a producer, with sarama. See programs.py for what it is told and what it prints.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/IBM/sarama"
)

var strategies = map[string]sarama.BalanceStrategy{
	"range":      sarama.NewBalanceStrategyRange(),
	"roundrobin": sarama.NewBalanceStrategyRoundRobin(),
	"sticky":     sarama.NewBalanceStrategySticky(),
}

var codecs = map[string]sarama.CompressionCodec{
	"none":   sarama.CompressionNone,
	"gzip":   sarama.CompressionGZIP,
	"snappy": sarama.CompressionSnappy,
	"lz4":    sarama.CompressionLZ4,
	"zstd":   sarama.CompressionZSTD,
}

func main() {
	var err error
	switch os.Args[1] {
	case "member":
		err = member(os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6])
	case "produce":
		err = produce(os.Args[2], os.Args[3], os.Args[4])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var telling sync.Mutex

func tell(line map[string]any) {
	telling.Lock()
	defer telling.Unlock()
	text, _ := json.Marshal(line)
	os.Stdout.Write(append(text, '\n'))
}

type reader struct{}

func (reader) Setup(session sarama.ConsumerGroupSession) error {
	assigned := []int32{}
	for _, partitions := range session.Claims() {
		assigned = append(assigned, partitions...)
	}
	tell(map[string]any{"assigned": assigned})
	return nil
}

func (reader) Cleanup(sarama.ConsumerGroupSession) error {
	tell(map[string]any{"assigned": []int32{}})
	return nil
}

func (reader) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case record, isOpen := <-claim.Messages():
			if !isOpen {
				return nil
			}
			tell(map[string]any{"record": []any{record.Partition, record.Offset, string(record.Value)}})
			session.MarkMessage(record, "")
		case <-session.Context().Done():
			return nil
		}
	}
}

func settings() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion
	return config
}

func member(address, group, topic, assignor, instance string) error {
	config := settings()
	config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategies[assignor]}
	config.Consumer.Group.Session.Timeout = 6 * time.Second
	config.Consumer.Group.Heartbeat.Interval = 300 * time.Millisecond
	config.Consumer.Group.InstanceId = instance
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Interval = 100 * time.Millisecond
	joined, err := sarama.NewConsumerGroup([]string{address}, group, config)
	if err != nil {
		return err
	}
	leaving, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	for leaving.Err() == nil {
		if err := joined.Consume(leaving, []string{topic}, reader{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	return joined.Close()
}

func produce(address, topic, codec string) error {
	config := settings()
	config.Producer.Compression = codecs[codec]
	config.Producer.Idempotent = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Return.Successes = true
	config.Net.MaxOpenRequests = 1
	producer, err := sarama.NewSyncProducer([]string{address}, config)
	if err != nil {
		return err
	}
	defer producer.Close()
	messages := []*sarama.ProducerMessage{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		messages = append(messages, &sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder(lines.Text())})
	}
	err = producer.SendMessages(messages)
	for _, message := range messages {
		tell(map[string]any{"sent": []any{message.Partition, message.Offset}})
	}
	return err
}
