// A member of a group, or a producer, with franz-go. See programs.py for what it is told and what it prints.
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

	"github.com/twmb/franz-go/pkg/kgo"
)

var balancers = map[string]kgo.GroupBalancer{
	"range":              kgo.RangeBalancer(),
	"roundrobin":         kgo.RoundRobinBalancer(),
	"sticky":             kgo.StickyBalancer(),
	"cooperative-sticky": kgo.CooperativeStickyBalancer(),
}

var codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
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

func tell(line map[string]any) {
	text, _ := json.Marshal(line)
	os.Stdout.Write(append(text, '\n'))
}

// What is assigned, told at every change.
type assignment struct {
	sync.Mutex
	partitions map[int32]bool
}

func (held *assignment) change(topics map[string][]int32, isHeld bool) {
	held.Lock()
	defer held.Unlock()
	for _, partitions := range topics {
		for _, partition := range partitions {
			if isHeld {
				held.partitions[partition] = true
			} else {
				delete(held.partitions, partition)
			}
		}
	}
	assigned := []int32{}
	for partition := range held.partitions {
		assigned = append(assigned, partition)
	}
	tell(map[string]any{"assigned": assigned})
}

func member(address, group, topic, assignor, instance string) error {
	held := assignment{partitions: map[int32]bool{}}
	gained := func(_ context.Context, _ *kgo.Client, topics map[string][]int32) { held.change(topics, true) }
	lost := func(_ context.Context, _ *kgo.Client, topics map[string][]int32) { held.change(topics, false) }
	options := []kgo.Opt{
		kgo.SeedBrokers(address), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic),
		kgo.Balancers(balancers[assignor]), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.SessionTimeout(6 * time.Second), kgo.HeartbeatInterval(300 * time.Millisecond),
		kgo.OnPartitionsAssigned(gained), kgo.OnPartitionsRevoked(lost), kgo.OnPartitionsLost(lost),
		kgo.DisableAutoCommit(), kgo.FetchMaxWait(200 * time.Millisecond),
	}
	if instance != "" {
		options = append(options, kgo.InstanceID(instance))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return err
	}
	leaving, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	for leaving.Err() == nil {
		client.PollFetches(leaving).EachRecord(func(record *kgo.Record) {
			tell(map[string]any{"record": []any{record.Partition, record.Offset, string(record.Value)}})
		})
		_ = client.CommitUncommittedOffsets(context.Background()) // a rebalance may have come first
	}
	client.Close()
	return nil
}

func produce(address, topic, codec string) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(address), kgo.DefaultProduceTopic(topic), kgo.ProducerBatchCompression(codecs[codec]),
		kgo.ProducerLinger(50*time.Millisecond), kgo.RequiredAcks(kgo.AllISRAcks()),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	records := []*kgo.Record{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		records = append(records, kgo.StringRecord(lines.Text()))
	}
	results := client.ProduceSync(context.Background(), records...)
	for _, result := range results {
		if result.Err == nil {
			tell(map[string]any{"sent": []any{result.Record.Partition, result.Record.Offset}})
		}
	}
	return results.FirstErr()
}
