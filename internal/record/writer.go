package record

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/klauspost/compress/zstd"
)

// Info is the metadata of a recording, and the files that are needed to repeat it.
type Info struct {
	Version  string // of Halyard
	Rig      string
	Clock    string        // lockstep or realtime
	Period   time.Duration // of a cycle
	Seed     int64
	Started  time.Time // when rig time was 0, by the wall
	First    uint64    // the first cycle in it; 1 = all from the start
	Set      []string  // --set
	Body     string    // --body
	Listen   []string  // --listen
	Source   string    // the name of the config
	Absent   []string  // files that the config names outside its folder, or that are too large; they are not attached
	Attached []File
	Layouts  map[string]Layout // of the agents at its beginning
}

// File is an attached file. Name is a path below the config's folder; the config's own is ConfigName.
type File struct {
	Name string
	Data []byte
}

// ConfigName is the name of the config among the attached files.
const ConfigName = "halyard-config.yaml"

// chunkSize is where a chunk of messages is compressed and written, if its time has not come before.
const chunkSize = 1 << 20

// Writer writes an MCAP file. It is not safe for two goroutines.
type Writer struct {
	out      *mcap.Writer
	options  *mcap.WriterOptions
	channels map[string]*mcap.Channel
	started  time.Time
	chunked  bool // a chunk is open
}

// NewWriter begins a file on w with info as its metadata.
func NewWriter(w io.Writer, info *Info) (*Writer, error) {
	// The library's own would compress in goroutines that compete with the cycle for a core.
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	o := &mcap.WriterOptions{Chunked: true, ChunkSize: chunkSize,
		Compressor: mcap.NewCustomCompressor(mcap.CompressionZSTD, z), IncludeCRC: true}
	out, err := mcap.NewWriter(w, o)
	if err != nil {
		return nil, err
	}
	if err := out.WriteHeader(&mcap.Header{Library: "halyard " + info.Version}); err != nil {
		return nil, err
	}
	whole := *info
	var absent []string
	whole.Attached, absent = readable(info.Attached)
	whole.Absent = slices.Concat(info.Absent, absent)
	if err := out.WriteMetadata(&mcap.Metadata{Name: "halyard", Metadata: whole.metadata()}); err != nil {
		return nil, err
	}
	if err := out.WriteMetadata(&mcap.Metadata{Name: layoutName, Metadata: layoutText(info.Layouts)}); err != nil {
		return nil, err
	}
	at := uint64(info.Started.UnixNano())
	for _, f := range whole.Attached {
		a := &mcap.Attachment{LogTime: at, CreateTime: at, Name: f.Name, MediaType: attachedType,
			DataSize: uint64(len(f.Data)), Data: bytes.NewReader(f.Data)}
		if err := out.WriteAttachment(a); err != nil {
			return nil, err
		}
	}
	return &Writer{out: out, options: o, channels: map[string]*mcap.Channel{}, started: info.Started}, nil
}

// Channel declares a topic and the JSON schema of its messages. It costs nothing the second time.
func (w *Writer) Channel(topic, schemaName, schema string) error {
	if w.channels[topic] != nil {
		return nil
	}
	id := uint16(len(w.channels) + 1)
	if id == 0 {
		return fmt.Errorf("record %s: got more than 65535 channels", topic)
	}
	c := &mcap.Channel{ID: id, SchemaID: id, Topic: topic, MessageEncoding: "json"}
	if err := w.out.WriteSchema(&mcap.Schema{ID: id, Name: schemaName, Encoding: "jsonschema",
		Data: []byte(schema)}); err != nil {
		return err
	}
	if err := w.out.WriteChannel(c); err != nil {
		return err
	}
	w.channels[topic], w.chunked = c, true
	return nil
}

func (w *Writer) declared(topic string) bool { return w.channels[topic] != nil }

// Message writes one message of a declared topic at rig time now.
func (w *Writer) Message(topic string, sequence uint64, now time.Duration, data []byte) error {
	at := uint64(w.started.Add(now).UnixNano())
	w.chunked = true
	return w.out.WriteMessage(&mcap.Message{ChannelID: w.channels[topic].ID, Sequence: uint32(sequence), LogTime: at,
		PublishTime: at, Data: data})
}

// last is Message, after which all that was written is in the file. The writer checks its options at every message.
func (w *Writer) last(topic string, sequence uint64, now time.Duration, data []byte) error {
	w.options.ChunkSize = 0
	err := w.Message(topic, sequence, now, data)
	w.options.ChunkSize, w.chunked = chunkSize, false
	return err
}

// Close ends the file with its index.
func (w *Writer) Close() error { return w.out.Close() }
