package record

import (
	"errors"
	"fmt"
	"io"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/klauspost/compress/zstd"

	"github.com/halyard-robotics/halyard/hal"
)

// The bounds of a recording, so that a hostile file cannot exhaust the memory.
const (
	maxRecord      = 16 << 20
	maxAttachment  = 32<<20 + 1<<16 // a file of a configs.Archive, with its name
	maxAttachments = 256
	maxAttached    = 256 << 20
	maxTopic       = 512     // bytes of a name
	maxState       = 4 << 20 // bytes of a state
	// bytes of all messages of a cycle, without pictures: readers hold a cycle as a whole
	maxCycle   = 32 << 20
	maxOps     = 1 << 19                 // uses of a line in a cycle
	maxMessage = maxRecord - 2*chunkSize // that is written: it shares its chunk with less than chunkSize
	maxPicture = maxMessage / 4 * 3      // bytes before they are base64
)

// Message is one message of a recording. Data is valid until the next one is read.
type Message struct {
	Topic string
	Time  uint64 // ns since 1970
	Data  []byte
}

// Reader reads a recording from its beginning, without its index: a truncated file has none.
type Reader struct {
	Info Info
	Cut  error // the cause of a truncated file, after Next has returned io.EOF; nil for a complete file

	lexer  *mcap.Lexer
	zstd   *zstd.Decoder
	in     *attachments
	topics map[uint16]string
	buf    []byte
	cycle  int // bytes of the cycle under way
	msg    mcap.Message
	ahead  bool // msg was read with the head of the file
	ended  bool
}

// NewReader reads the head of the file r: metadata and attachments. The error is of kind Invalid if r is not a
// recording of Halyard.
func NewReader(r io.Reader) (*Reader, error) {
	d, err := newReader(r)
	if err != nil || d.Info.Rig != "" {
		return d, err
	}
	d.Close()
	if err = d.Cut; err == nil {
		err = errors.New("got an MCAP file of another program, want a recording of Halyard (try: halyard export FILE, " +
			"which lists its topics)")
	}
	return nil, &hal.Error{Kind: hal.Invalid, Op: "read recording", Err: err}
}

// newReader reads the head of an MCAP file of any program.
func newReader(r io.Reader) (*Reader, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderMaxWindow(maxRecord))
	if err != nil {
		return nil, err
	}
	d := &Reader{topics: map[uint16]string{}, in: newAttachments(r), zstd: z}
	fault := func(err error) (*Reader, error) {
		d.Close()
		return nil, &hal.Error{Kind: hal.Invalid, Op: "read recording", Err: err}
	}
	d.lexer, err = mcap.NewLexer(d.in, &mcap.LexerOptions{ValidateChunkCRCs: true, MaxRecordSize: maxRecord,
		MaxDecompressedChunkSize: maxRecord,
		Decompressors:            map[mcap.CompressionFormat]mcap.ResettableReader{mcap.CompressionZSTD: z}})
	if err != nil {
		return fault(fmt.Errorf("got no MCAP file: %w", err))
	}
	switch err := d.read(); {
	case err == io.EOF:
	case err != nil:
		return fault(err)
	default:
		d.ahead = true
	}
	return d, nil
}

// Contents is one topic of an MCAP file: how many messages it has, how large they are, and from when to when, s since
// 1970.
type Contents struct {
	Topic    string  `json:"topic"`
	Messages int     `json:"messages"`
	Bytes    int     `json:"bytes"`
	From     float64 `json:"from_s"`
	To       float64 `json:"to_s"`
}

// Cells implements a row of a table.
func (t Contents) Cells() [][2]any {
	return [][2]any{{"topic", t.Topic}, {"messages", t.Messages}, {"bytes", t.Bytes}, {"seconds", t.To - t.From}}
}

// maxTopics bounds the topics of a file.
const maxTopics = 1 << 16

// Topics reads an MCAP file of any program and returns its topics in the order of their first messages. cut is the
// cause of a truncated file.
func Topics(r io.Reader) (list []Contents, cut, err error) {
	d, err := newReader(r)
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	at := map[string]int{}
	for {
		if !d.ahead {
			if err := d.read(); err == io.EOF {
				return list, d.Cut, nil
			} else if err != nil {
				return list, nil, &hal.Error{Kind: hal.Invalid, Op: "read recording", Err: err}
			}
		}
		d.ahead = false
		name := d.topics[d.msg.ChannelID]
		i, ok := at[name]
		if !ok {
			if i = len(list); i == maxTopics {
				return list, fmt.Errorf("it has more than %d topics", maxTopics), nil
			}
			at[name] = i
			list = append(list, Contents{Topic: name, From: float64(d.msg.LogTime) / 1e9})
		}
		t := &list[i]
		t.Messages, t.Bytes, t.To = t.Messages+1, t.Bytes+len(d.msg.Data), float64(d.msg.LogTime)/1e9
	}
}

// Next returns the next message, or io.EOF at the end of the file or of its readable part; then Cut has the cause.
func (d *Reader) Next() (m Message, err error) {
	if !d.ahead {
		if err := d.read(); err != nil {
			return m, err
		}
	}
	d.ahead = false
	m = Message{d.topics[d.msg.ChannelID], d.msg.LogTime, d.msg.Data}
	return m, d.count(m)
}

// count refuses a cycle that is larger than any that is recorded.
func (d *Reader) count(m Message) error {
	n := len(m.Data)
	switch TopicOf(m.Topic) {
	case CycleTopic:
		d.cycle = 0
		return nil
	case OtherTopic:
		return nil
	case StateTopic:
		if n > maxState {
			return fmt.Errorf("%s: got a state of %d bytes, want at most %d", m.Topic, n, maxState)
		}
	}
	if d.cycle += n; d.cycle > maxCycle {
		return fmt.Errorf("%s: got a cycle of more than %d bytes", m.Topic, maxCycle)
	}
	return nil
}

// token is the lexer's next one. The lexer panics on some damaged chunks (mcap v1.7.3: their compressed size is not
// checked).
func (d *Reader) token() (t mcap.TokenType, record []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged chunk: %v", p)
		}
	}()
	t, record, err = d.lexer.Next(d.buf)
	d.Info.Attached = d.in.files
	return t, record, err
}

// read reads on to the next message.
func (d *Reader) read() error {
	if d.ended {
		return io.EOF
	}
	for {
		token, record, err := d.token()
		if err != nil {
			d.ended = true
			if !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				d.Cut = fmt.Errorf("the file is cut or damaged: %w", err)
			} else {
				d.Cut = errors.New("the file is cut: it has no end")
			}
			return io.EOF
		}
		if cap(record) > cap(d.buf) {
			d.buf = record
		}
		switch token {
		case mcap.TokenMetadata:
			m, err := mcap.ParseMetadata(record)
			if err != nil {
				return err
			}
			switch m.Name {
			case "halyard":
				layouts := d.Info.Layouts
				d.Info, err = infoOf(m.Metadata)
				d.Info.Layouts = layouts
			case layoutName:
				d.Info.Layouts, err = layoutsFrom(m.Metadata)
			}
			if err != nil {
				return fmt.Errorf("metadata: %w", err)
			}
		case mcap.TokenChannel:
			c, err := mcap.ParseChannel(record)
			if err != nil {
				return err
			}
			if len(c.Topic) > maxTopic {
				return fmt.Errorf("channel %d: got a name of %d bytes, want at most %d", c.ID, len(c.Topic), maxTopic)
			}
			d.topics[c.ID] = c.Topic
		case mcap.TokenMessage:
			if err := d.msg.PopulateFrom(record, false); err != nil {
				return err
			}
			if d.topics[d.msg.ChannelID] == "" {
				return fmt.Errorf("message: got channel %d, want a declared channel", d.msg.ChannelID)
			}
			return nil
		case mcap.TokenDataEnd:
			d.ended = true
			return io.EOF
		}
	}
}

// Close closes the decompressor.
func (d *Reader) Close() { d.zstd.Close() }
