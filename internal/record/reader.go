package record

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/foxglove/mcap/go/mcap"

	"github.com/halyard-robotics/halyard/hal"
)

// The bounds of a recording, so that a hostile file cannot exhaust the memory.
const (
	maxRecord      = 16 << 20
	maxAttachments = 256
	maxAttached    = 256 << 20
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
	topics map[uint16]string
	names  map[string]bool // of attachments
	size   uint64
	buf    []byte
	msg    mcap.Message
	ahead  bool // msg was read with the head of the file
	ended  bool
}

// NewReader reads the head of the file r: metadata and attachments. The error is of kind Invalid if r is not a recording of
// Halyard.
func NewReader(r io.Reader) (*Reader, error) {
	d := &Reader{topics: map[uint16]string{}, names: map[string]bool{}}
	fault := func(err error) (*Reader, error) {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "read recording", Err: err}
	}
	var err error
	d.lexer, err = mcap.NewLexer(r, &mcap.LexerOptions{ValidateChunkCRCs: true, MaxRecordSize: maxRecord, MaxDecompressedChunkSize: maxRecord,
		AttachmentCallback: d.attach})
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
	if d.Info.Rig == "" {
		if d.Cut != nil {
			return fault(d.Cut)
		}
		return fault(errors.New("got an MCAP file of another program, want a recording of Halyard"))
	}
	return d, nil
}

// attach reads one attachment. Its name is a path below the folder of the config.
func (d *Reader) attach(a *mcap.AttachmentReader) error {
	if path.IsAbs(a.Name) || path.Clean(a.Name) != a.Name || strings.HasPrefix(a.Name, "..") || strings.ContainsAny(a.Name, "\\\x00") {
		return fmt.Errorf("attachment: got name %.80q, want a path within the config's folder", a.Name)
	}
	if d.size += a.DataSize; d.size > maxAttached || len(d.names) >= maxAttachments || d.names[a.Name] {
		return fmt.Errorf("attachment %q: got too much, or two of that name", a.Name)
	}
	d.names[a.Name] = true
	data, err := io.ReadAll(io.LimitReader(a.Data(), int64(a.DataSize)))
	if err != nil {
		return err
	}
	d.Info.Attached = append(d.Info.Attached, File{a.Name, data})
	return nil
}

// Next returns the next message, or io.EOF at the end of the file or of its readable part; then Cut has the cause.
func (d *Reader) Next() (m Message, err error) {
	if !d.ahead {
		if err := d.read(); err != nil {
			return m, err
		}
	}
	d.ahead = false
	return Message{d.topics[d.msg.ChannelID], d.msg.LogTime, d.msg.Data}, nil
}

// token is the lexer's next one. The lexer panics on some damaged chunks (mcap v1.7.3: their compressed size is not checked).
func (d *Reader) token() (t mcap.TokenType, record []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged chunk: %v", p)
		}
	}()
	return d.lexer.Next(d.buf)
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
			if m.Name == "halyard" {
				attached := d.Info.Attached
				if d.Info, err = infoOf(m.Metadata); err != nil {
					return fmt.Errorf("metadata: %w", err)
				}
				d.Info.Attached = attached
			}
		case mcap.TokenChannel:
			c, err := mcap.ParseChannel(record)
			if err != nil {
				return err
			}
			d.topics[c.ID] = c.Topic
		case mcap.TokenMessage:
			if err := d.msg.PopulateFrom(record, false); err != nil {
				return err
			}
			if d.topics[d.msg.ChannelID] == "" {
				return fmt.Errorf("message: got channel %d, want one that was declared", d.msg.ChannelID)
			}
			return nil
		case mcap.TokenDataEnd:
			d.ended = true
			return io.EOF
		}
	}
}

// Close closes the decompressor.
func (d *Reader) Close() { d.lexer.Close() }
