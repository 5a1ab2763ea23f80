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
	"strings"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/protocols"
)

// The types of request.
const (
	readType             = 1
	writeType            = 2
	checkReadType        = 3
	cleanType            = 4
	clearType            = 5
	closeType            = 6
	keysType             = 7
	loginType            = 8
	subscribeType        = 9
	combinedReadType     = 10
	blockingReadType     = 11
	bufferNameType       = 12
	unsubscribeType      = 13
	setDiagnosticsType   = 14
	diagnosticsType      = 15
	messageCountType     = 16
	queueLengthType      = 17
	spaceAvailableType   = 18
	priorityWriteType    = 19
	bitwiseWriteType     = 20
	waitForWriteType     = 21
	waitForReadType      = 22
	waitForLengthType    = 23
	waitForClearType     = 24
	waitForAnythingType  = 25
	readCountType        = 26
	isClearType          = 27
	openVariableLogType  = 28
	readVariableLogType  = 29
	closeVariableLogType = 30
	messageTypeType      = 31
	bufferListType       = 32
	bufferInfoType       = 33
	headerSize           = 20
	nameSize             = 32
	readAccess           = 1
	peekAccess           = 3
	writeAccess          = 4
	writeIfReadAccess    = 5
	queueShorter         = 0 // what waitForLengthType waits for
)

// requestType is what a client sends behind the header of a request, and the reply to one for a buffer that does not
// exist.
type requestType struct {
	tail  int  // bytes behind the header: a timeout, a priority, a name
	write bool // then as many bytes as the header says
	words int  // of the reply behind the serial number; 0 = none
}

// requestTypes are all requests of rcslib's clients. Its server reads 4 bytes behind a waitForWrite, which none of its
// clients sends.
var requestTypes = map[uint32]requestType{
	0:                    {},
	readType:             {words: 4},
	writeType:            {write: true},
	checkReadType:        {words: 2},
	cleanType:            {}, // ends the original's server; ours goes on
	clearType:            {words: 1},
	closeType:            {},
	keysType:             {tail: 16, words: 4},
	loginType:            {tail: 32, words: 1},
	subscribeType:        {words: 1},
	combinedReadType:     {words: 4},
	blockingReadType:     {tail: 4, words: 4},
	bufferNameType:       {words: 1 + nameSize/4},
	unsubscribeType:      {words: 1},
	setDiagnosticsType:   {tail: 68},
	diagnosticsType:      {words: 7},
	messageCountType:     {words: 2},
	queueLengthType:      {words: 2},
	spaceAvailableType:   {words: 2},
	priorityWriteType:    {tail: 4, write: true},
	bitwiseWriteType:     {tail: 4, write: true},
	waitForWriteType:     {words: 2},
	waitForReadType:      {words: 2},
	waitForLengthType:    {words: 2},
	waitForClearType:     {words: 2},
	waitForAnythingType:  {words: 2},
	readCountType:        {words: 2},
	isClearType:          {words: 2},
	openVariableLogType:  {tail: 268, words: 2},
	readVariableLogType:  {words: 3},
	closeVariableLogType: {words: 1},
	messageTypeType:      {words: 2},
	bufferListType:       {words: 1},
	bufferInfoType:       {tail: 64, words: 1},
}

var (
	errClosed  = errors.New("the client closed the channel")
	errRequest = errors.New("unknown request type")
)

// request is one request of a client.
type request struct {
	serial, kind, buffer uint32
	a, b                 int32
	tail                 []byte // of the type
	data                 []byte // of a write
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
	writer *Writer
	logged bool // a refused write
}

func newSession(s *Server, conn net.Conn, log *slog.Logger) *session {
	return &session{server: s, conn: conn, log: log, in: bufio.NewReader(conn), writer: &Writer{}}
}

// run serves until the client leaves or ctx ends, and returns the reason.
func (s *session) run(ctx context.Context) error {
	defer s.writer.left.Store(true)
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

// receive reads one request. Its tail and data are new slices, of bounded sizes.
func (s *session) receive() (r request, err error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(s.in, header[:]); err != nil {
		return r, err
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32(header[4*i:]) }
	r = request{serial: word(0), kind: word(1), buffer: word(2), a: int32(word(3)), b: int32(word(4))}
	kind, ok := requestTypes[r.kind]
	if !ok {
		s.server.traffic.Drop(protocols.Unknown)
		return r, fmt.Errorf("request %d: %w", r.kind, errRequest) // how long it is is not known
	}
	if limit := s.limit(r.buffer); kind.write && (r.b < 0 || int(r.b) > limit) {
		s.server.traffic.Drop(protocols.Oversized)
		// the original closes the channel as well: the end of the data is unknown
		return r, fmt.Errorf("write to buffer %d: size: got %d, want 0..%d", r.buffer, r.b, limit)
	}
	r.tail = make([]byte, kind.tail)
	if _, err = io.ReadFull(s.in, r.tail); err == nil && kind.write {
		r.data = make([]byte, r.b)
		_, err = io.ReadFull(s.in, r.data)
	}
	s.server.traffic.Receive()
	s.writer.requests.Add(1)
	if err == nil && !protocols.Recognize(s.conn) {
		err = protocols.ErrStranger
	}
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
	kind := requestTypes[r.kind]
	switch r.kind {
	case closeType:
		return errClosed
	case writeType, priorityWriteType, bitwiseWriteType:
		if !s.write(b, r) {
			return nil
		}
		return s.send()
	case 0, cleanType, setDiagnosticsType:
		return nil // the original answers none of them
	case keysType, openVariableLogType, readVariableLogType, closeVariableLogType:
		s.words(make([]int32, kind.words)...) // no passwords: both keys are 0. No logs: 0 is none
	case loginType, unsubscribeType:
		s.words(1)
	case subscribeType:
		s.words(0) // refused: the client polls
	case bufferListType:
		s.text(strings.Join(s.server.names(), ","))
	case bufferInfoType:
		s.text(s.server.info(string(beforeNUL(r.tail))))
	case combinedReadType, diagnosticsType:
		s.words(int32(NotImplemented))
		s.words(make([]int32, kind.words-1)...)
	default:
		if b == nil {
			s.server.traffic.Drop(protocols.Refused)
			s.words(int32(ServerError))
			s.words(make([]int32, kind.words-1)...)
			break
		}
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

// text appends a text with its size and a NUL.
func (s *session) text(t string) {
	s.words(int32(len(t) + 1))
	s.out = append(append(s.out, t...), 0)
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
	case readCountType:
		s.words(int32(ReadOK), state.Reads)
	case isClearType:
		s.words(int32(ReadOK), flag(state.Length == 0))
	case messageTypeType:
		s.words(int32(ReadOK), b.messageType())
	default:
		s.await(ctx, b, r, state)
	}
}

// await answers a request that waits for a change of b, with the value that has changed. The client ends it by its own
// time.
func (s *session) await(ctx context.Context, b *Buffer, r *request, before State) {
	value, done := int32(0), func(now State) bool { return now != before }
	switch r.kind {
	case waitForWriteType:
		done = func(now State) bool { value = now.Count; return now.Count != before.Count }
	case waitForReadType:
		done = func(now State) bool { value = now.Reads; return now.Reads != before.Reads }
	case waitForClearType:
		done = func(now State) bool { value = flag(now.Length == 0); return now.Length == 0 }
	case waitForLengthType:
		done = func(now State) bool {
			value = int32(now.Length)
			return r.a == queueShorter && value < r.b || r.a != queueShorter && value > r.b
		}
	}
	status := ReadOK
	if b.until(ctx, done) != nil {
		status = TimedOut
	}
	s.words(int32(status), value)
}

func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// wait blocks until b has a message that is new to the client, or the client's time is over.
func (s *session) wait(ctx context.Context, b *Buffer, r *request) {
	if ms := int32(binary.BigEndian.Uint32(r.tail)); ms >= 0 { // below 0 = none
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
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
	status, wasRead, err := NotImplemented, false, error(nil)
	if r.kind != bitwiseWriteType { // and priorities are all the same
		status, wasRead, err = b.put(r.data, r.a == writeIfReadAccess, s.writer)
	}
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
