package nml

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
)

// Status is the result of one access to a buffer.
type Status int32

// The statuses that a server answers.
const (
	NotSet         Status = 0
	ReadOld        Status = 1 // no message, or no new message for the reader
	ReadOK         Status = 2
	WriteOK        Status = 3
	WriteBlocked   Status = 4 // write if read: the message before has not been read
	ClearOK        Status = 5
	UpdateError    Status = -2  // the message is malformed, or of a type that the buffer does not carry
	TimedOut       Status = -6  // of a blocking read
	QueueFull      Status = -7  //
	NotImplemented Status = -12 // the request is one that this server refuses
	NoSpace        Status = -13 // the message is larger than the buffer
	ServerError    Status = -15 // no buffer has the number
)

var statusNames = map[Status]string{
	NotSet: "not set", ReadOld: "read old", ReadOK: "read ok", WriteOK: "write ok", WriteBlocked: "write blocked",
	ClearOK: "clear ok", -1: "error", UpdateError: "update error", -3: "internal access error", -4: "no master",
	-5: "configuration error", TimedOut: "timed out", QueueFull: "queue full", -8: "create error", -9: "no permission",
	-10: "no server", -11: "resource conflict", NotImplemented: "not implemented", NoSpace: "insufficient space",
	-14: "library unavailable", ServerError: "server error", -16: "no blocking semaphore", -17: "interrupted",
}

func (s Status) String() string {
	if name, ok := statusNames[s]; ok {
		return name
	}
	return fmt.Sprintf("status(%d)", int32(s))
}

// DefaultSize is the largest message of a buffer without a size, MaxSize the limit of any buffer, bytes.
const (
	DefaultSize = 4096
	MaxSize     = 16 << 20
)

// growth is how much longer than its C++ object an encoded message may be: a char has 4 bytes in XDR.
const growth = 4

// BufferOptions describe one buffer.
type BufferOptions struct {
	Name         string // at most 31 bytes reach a client
	Number       int32  // on its port
	Size         int    // of the largest message as a C++ object, bytes; of a queue, all messages; 0 = DefaultSize
	Encoding     Encoding
	Queue        bool // a read removes the oldest message; otherwise a write replaces the message
	ConfirmWrite bool // a write over the network is answered
	// Vocabulary, if set, checks each message: an unknown type or a malformed message is refused. Without it a
	// message needs a valid header only.
	Vocabulary Vocabulary
}

// Buffer is one NML buffer. All methods may be called from any goroutine.
type Buffer struct {
	options BufferOptions

	mu      sync.Mutex
	entries []entry // the messages that wait, oldest first; without a queue at most one
	used    int     // bytes of entries
	id      int32   // of the last write; counts from 1
	reads   int32   // that returned a message
	writer  *Writer // of the last message; nil = this process
	changed chan struct{}
}

type entry struct {
	data []byte
	id   int32
	read bool
}

// NewBuffer returns an empty buffer.
func NewBuffer(o BufferOptions) (*Buffer, error) {
	o.Size = cmp.Or(o.Size, DefaultSize)
	if o.Name == "" || o.Size < 0 || o.Size > MaxSize || o.Encoding > Disp {
		return nil, fmt.Errorf("buffer %q: size: got %d, want a name and 1..%d bytes", o.Name, o.Size, MaxSize)
	}
	return &Buffer{options: o}, nil
}

// Options are the buffer's, defaults filled in.
func (b *Buffer) Options() BufferOptions { return b.options }

// Write encodes m and stores it.
func (b *Buffer) Write(m Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var reuse []byte
	if !b.options.Queue && len(b.entries) == 1 {
		reuse = b.entries[0].data[:0]
	}
	data, err := Append(reuse, b.options.Encoding, m)
	if err != nil {
		b.drop() // the old message shared the memory
		return fmt.Errorf("buffer %s: %w", b.options.Name, err)
	}
	if s, _ := b.store(data, false, nil); s != WriteOK {
		return fmt.Errorf("buffer %s: write %d bytes: %v", b.options.Name, len(data), s)
	}
	return nil
}

// put stores an encoded message that came over the network from w. It keeps no part of data.
func (b *Buffer) put(data []byte, ifRead bool, w *Writer) (s Status, wasRead bool, err error) {
	encoding, ok := Detect(data)
	if !ok {
		return UpdateError, false, fmt.Errorf("encoding: got %#02x, want L, B, 0 or a sign: %w",
			data[:min(1, len(data))], ErrFormat)
	}
	if _, _, err := Header(data, encoding); err != nil {
		return UpdateError, false, err
	}
	kept := append([]byte(nil), data...)
	if b.options.Vocabulary != nil {
		m, err := DecodeAny(data, encoding, b.options.Vocabulary)
		if err == nil {
			kept, err = Append(nil, b.options.Encoding, m) // with the true size, in the buffer's encoding
		}
		if err != nil {
			return UpdateError, false, err
		}
	} else if encoding != b.options.Encoding {
		return UpdateError, false, fmt.Errorf("encoding: got %v, want %v", encoding, b.options.Encoding)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s, wasRead = b.store(kept, ifRead, w)
	return s, wasRead, nil
}

// store stores data of w. wasRead reports whether the previous message was read. Under the lock.
func (b *Buffer) store(data []byte, ifRead bool, w *Writer) (s Status, wasRead bool) {
	wasRead = len(b.entries) == 0 || b.entries[len(b.entries)-1].read
	switch {
	case len(data) > b.limit():
		return NoSpace, wasRead
	case ifRead && !wasRead:
		return WriteBlocked, wasRead
	case !b.options.Queue:
		b.drop()
	case b.used+len(data) > b.limit():
		return QueueFull, wasRead
	}
	b.id++
	b.writer = w
	b.entries, b.used = append(b.entries, entry{data: data, id: b.id}), b.used+len(data)
	b.wake()
	return WriteOK, wasRead
}

// wake lets the requests that wait for a change look. Under the lock.
func (b *Buffer) wake() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// Writer is the client that wrote the last message over the network; nil if this process did.
func (b *Buffer) Writer() *Writer {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.writer
}

// limit is the largest encoded size, bytes.
func (b *Buffer) limit() int { return growth * b.options.Size }

func (b *Buffer) drop() { b.entries, b.used = b.entries[:0], 0 }

// read appends the next message to dst: of a queue the oldest one, which it removes, else the latest if its id is not
// after. peek leaves the message unread.
func (b *Buffer) read(dst []byte, after int32, peek bool) (data []byte, s Status, id int32, wasRead bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.entries) == 0 {
		return dst, ReadOld, b.id, b.id == 0
	}
	e := &b.entries[0]
	id, wasRead = e.id, e.read
	if !b.options.Queue && id == after {
		return dst, ReadOld, id, wasRead
	}
	dst = append(dst, e.data...)
	if !peek {
		b.reads++
		b.wake()
	}
	switch {
	case peek:
	case b.options.Queue:
		b.used -= len(e.data)
		b.entries = append(b.entries[:0], b.entries[1:]...)
	default:
		e.read = true
	}
	return dst, ReadOK, id, wasRead
}

// ErrOld reports that a buffer has no message that is new to the reader.
var ErrOld = errors.New("no new message")

// Read decodes the next message, by v, and returns its id: of a queue the oldest message, which it removes;
// else the latest, or ErrOld if its id is after. A reader passes the id of its last read, at first 0.
func (b *Buffer) Read(v Vocabulary, after int32) (m Message, id int32, err error) {
	data, s, id, _ := b.read(nil, after, false)
	if s != ReadOK {
		return nil, id, ErrOld
	}
	if m, err = DecodeAny(data, b.options.Encoding, v); err != nil {
		err = fmt.Errorf("buffer %s: %w", b.options.Name, err)
	}
	return m, id, err
}

// Peek decodes the next message into m and leaves it unread, or returns ErrOld.
func (b *Buffer) Peek(m Message) error {
	data, s, _, _ := b.read(nil, 0, true)
	if s != ReadOK {
		return ErrOld
	}
	return Decode(data, b.options.Encoding, m)
}

// Wait blocks until the buffer has a message whose id is not after, or ctx ends; it returns ctx's error.
func (b *Buffer) Wait(ctx context.Context, after int32) error {
	return b.until(ctx, func(now State) bool { return now.Length > 0 && (b.options.Queue || now.Count != after) })
}

// until blocks until done is true of the buffer's state, or ctx ends; it returns ctx's error. done is called under the
// lock.
func (b *Buffer) until(ctx context.Context, done func(now State) bool) error {
	for {
		b.mu.Lock()
		if done(b.state()) {
			b.mu.Unlock()
			return nil
		}
		if b.changed == nil {
			b.changed = make(chan struct{})
		}
		changed := b.changed
		b.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Clear empties the buffer. Ids go on.
func (b *Buffer) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop()
	b.wake()
}

// messageType is the type of the next message, 0 if there is none.
func (b *Buffer) messageType() (t int32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.entries) > 0 {
		t, _, _ = Header(b.entries[0].data, b.options.Encoding)
	}
	return t
}

// State is the state of a buffer.
type State struct {
	Count  int32 // messages written since the start
	Reads  int32 // messages read since the start; peeks do not count
	Length int   // queued messages
	Space  int   // maximum size of a further message, bytes
	Read   bool  // the last message has been read, or the buffer is empty
}

// State returns the buffer's state.
func (b *Buffer) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state()
}

// state is State, under the lock.
func (b *Buffer) state() State {
	s := State{Count: b.id, Reads: b.reads, Length: len(b.entries), Space: b.limit(), Read: true}
	if n := len(b.entries); n > 0 {
		s.Read = b.entries[n-1].read
	}
	if b.options.Queue {
		s.Space -= b.used
	}
	return s
}
