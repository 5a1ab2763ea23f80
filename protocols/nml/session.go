package nml

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/protocols"
)

// The types of request.
const (
	readType            = 1
	writeType           = 2
	checkReadType       = 3
	clearType           = 5
	closeType           = 6
	keysType            = 7
	loginType           = 8
	subscribeType       = 9
	blockingReadType    = 11
	bufferNameType      = 12
	unsubscribeType     = 13
	messageCountType    = 16
	queueLengthType     = 17
	spaceAvailableType  = 18
	headerSize          = 20
	nameSize            = 32
	readAccess          = 1
	peekAccess          = 3
	writeAccess         = 4
	writeIfReadAccess   = 5
	keysSize, loginSize = 16, 32
)

var (
	errClosed  = errors.New("the client closed the channel")
	errRequest = errors.New("unknown request type")
)

// request is one request of a client.
type request struct {
	serial, kind, buffer uint32
	a, b                 int32
	timeout              int32 // of a blocking read, ms; below 0 = none
	data                 []byte
}

// ahead is how many requests are read behind a blocking read, so that the end of the connection behind them is seen.
const ahead = 4

// session is one connection. Its reader parses requests; run answers them. A blocking read waits in run, while the
// reader detects a closed connection.
type session struct {
	server *Server
	conn   net.Conn
	log    *slog.Logger
	in     *bufio.Reader
	out    []byte
	logged bool // a refused write
}

func newSession(s *Server, conn net.Conn, log *slog.Logger) *session {
	return &session{server: s, conn: conn, log: log, in: bufio.NewReader(conn)}
}

// run serves until the client leaves or ctx ends, and returns the reason.
func (s *session) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { s.conn.Close() })
	defer stop()
	requests := make(chan request, ahead)
	var ended error
	var reader sync.WaitGroup
	reader.Go(func() {
		defer s.server.options.Contain("nml reader")
		defer cancel()
		defer close(requests)
		for ended == nil {
			var r request
			if r, ended = s.receive(); ended != nil {
				return
			}
			select {
			case requests <- r:
			case <-ctx.Done():
				ended = ctx.Err()
			}
		}
	})
	var err error
	for r := range requests {
		if err = s.answer(ctx, &r); err != nil {
			break
		}
	}
	cancel()
	reader.Wait()
	if err == nil {
		err = ended
	}
	return err
}

// receive reads one request. Its data is a new slice, of a bounded size.
func (s *session) receive() (r request, err error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(s.in, header[:]); err != nil {
		return r, err
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32(header[4*i:]) }
	r = request{serial: word(0), kind: word(1), buffer: word(2), a: int32(word(3)), b: int32(word(4)), timeout: -1}
	size := 0
	switch r.kind {
	case blockingReadType:
		var more [4]byte
		_, err = io.ReadFull(s.in, more[:])
		r.timeout = int32(binary.BigEndian.Uint32(more[:]))
	case writeType:
		size = int(r.b)
		if limit := s.limit(r.buffer); size < 0 || size > limit {
			s.server.traffic.Drop(protocols.Oversized)
			// the original closes the channel as well: the end of the data is unknown
			return r, fmt.Errorf("write to buffer %d: size: got %d, want 0..%d", r.buffer, size, limit)
		}
	case keysType:
		size = keysSize
	case loginType:
		size = loginSize
	case readType, checkReadType, clearType, closeType, subscribeType, bufferNameType, unsubscribeType,
		messageCountType, queueLengthType, spaceAvailableType:
	default:
		s.server.traffic.Drop(protocols.Unknown)
		return r, fmt.Errorf("request %d: %w", r.kind, errRequest) // how long it is is not known
	}
	if err == nil && size > 0 {
		r.data = make([]byte, size)
		_, err = io.ReadFull(s.in, r.data)
	}
	s.server.traffic.Receive()
	return r, err
}

// limit is the largest write to a buffer, bytes.
func (s *session) limit(number uint32) int {
	if b := s.server.buffers[int32(number)]; b != nil {
		return b.limit()
	}
	return growth * DefaultSize
}

// answer handles one request. Its error ends the session.
func (s *session) answer(ctx context.Context, r *request) error {
	s.out = binary.BigEndian.AppendUint32(s.out[:0], r.serial+1)
	b := s.server.buffers[int32(r.buffer)]
	switch {
	case r.kind == closeType:
		return errClosed
	case r.kind == writeType:
		if !s.write(b, r) {
			return nil
		}
	case r.kind == keysType: // no passwords: both keys are 0
		s.out = append(s.out, make([]byte, keysSize)...)
	case r.kind == loginType, r.kind == unsubscribeType:
		s.words(1)
	case r.kind == subscribeType:
		s.words(0) // refused: the client polls
	case b == nil:
		s.server.traffic.Drop(protocols.Refused)
		s.unknown(r.kind)
	default:
		s.access(ctx, b, r)
	}
	return s.send()
}

// words appends 32-bit words to the reply.
func (s *session) words(words ...int32) {
	for _, w := range words {
		s.out = binary.BigEndian.AppendUint32(s.out, uint32(w))
	}
}

// unknown answers a request for a buffer that does not exist, with words as many as the request's own reply has.
func (s *session) unknown(kind uint32) {
	s.words(int32(ServerError))
	switch kind {
	case readType, blockingReadType:
		s.words(0, 0, 0)
	case checkReadType, messageCountType, queueLengthType, spaceAvailableType:
		s.words(0)
	case bufferNameType:
		s.out = append(s.out, make([]byte, nameSize)...)
	}
}

// access answers a request for b.
func (s *session) access(ctx context.Context, b *Buffer, r *request) {
	state := b.State()
	switch r.kind {
	case blockingReadType:
		s.wait(ctx, b, r)
		s.read(b, r)
	case readType:
		s.read(b, r)
	case checkReadType:
		s.words(int32(ReadOK), flag(state.Read))
	case clearType:
		b.Clear()
		s.words(int32(ClearOK))
	case bufferNameType:
		var name [nameSize]byte
		copy(name[:nameSize-1], b.options.Name)
		s.words(int32(NotSet))
		s.out = append(s.out, name[:]...)
	case messageCountType:
		s.words(int32(ReadOK), state.Count)
	case queueLengthType:
		s.words(int32(ReadOK), int32(state.Length))
	case spaceAvailableType:
		s.words(int32(ReadOK), int32(state.Space))
	}
}

func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// wait blocks until b has a message that is new to the client, or the client's time is over.
func (s *session) wait(ctx context.Context, b *Buffer, r *request) {
	if r.timeout >= 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(r.timeout)*time.Millisecond)
		defer cancel()
	}
	b.Wait(ctx, r.b)
}

// read appends status, size, id, was_read and the message.
func (s *session) read(b *Buffer, r *request) {
	const at = 4 // of the status
	s.words(0, 0, 0, 0)
	data, status, id, wasRead := b.read(s.out, r.b, r.a == peekAccess)
	if status == ReadOld && r.kind == blockingReadType {
		status = TimedOut
	}
	for i, w := range []int32{int32(status), int32(len(data) - at - 16), id, flag(wasRead)} {
		binary.BigEndian.PutUint32(data[at+4*i:], uint32(w))
	}
	s.out = data
}

// write stores a message and reports whether the client waits for an answer.
func (s *session) write(b *Buffer, r *request) (confirm bool) {
	if b == nil {
		s.server.traffic.Drop(protocols.Refused)
		return false
	}
	status, wasRead, err := b.put(r.data, r.a == writeIfReadAccess)
	if err == nil && status != WriteOK && status != WriteBlocked {
		err = errors.New(status.String())
	}
	if err != nil {
		s.server.traffic.Drop(protocols.Refused)
		if !s.logged {
			s.logged = true
			s.log.Warn("nml: write refused", "buffer", b.options.Name, "fault", err)
		}
	}
	s.words(int32(status), flag(wasRead))
	return b.options.ConfirmWrite
}

// send writes the reply.
func (s *session) send() error {
	s.conn.SetWriteDeadline(time.Now().Add(s.server.options.WriteTimeout))
	if _, err := s.conn.Write(s.out); err != nil {
		s.server.traffic.Drop(protocols.Unsent)
		return err
	}
	s.server.traffic.Send()
	return nil
}
