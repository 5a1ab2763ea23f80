package ros2

import (
	"context"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/internal/protocols/cdr"
	"github.com/halyard-robotics/halyard/internal/protocols/fields"
	"github.com/halyard-robotics/halyard/internal/protocols/rtps"
)

const (
	maxCalls     = 16 // that wait for one service
	readerWait   = 100 * time.Millisecond
	readerPoll   = 5 * time.Millisecond
	payloadStart = 4  // of the encapsulation
	cycloneStart = 16 // of a request's identity in Cyclone's payload
)

// cyclone is the vendor whose rmw puts the identity of a request into the payload. The others' is in the inline QoS.
var cyclone = [2]byte{0x01, 0x10}

// Call is one request of a service.
type Call struct {
	From    rtps.Prefix
	Request any // a pointer
	client  rtps.GUID
	number  int64
	inside  []byte // Cyclone's identity
	service *service
}

type service struct {
	node     *Node
	name     string
	requests *cdr.Codec
	kind     reflect.Type
	replies  *Publisher
	calls    chan *Call
	do       func(context.Context, *Call)
	refuse   func(error)
}

// Serve adds a service. do runs in a goroutine of the service's own, one call at a time, and calls Reply, now or later.
func (n *Node) Serve(name string, request, reply fields.Named, q Quality, do func(context.Context, *Call),
	refuse func(error)) error {
	s := &service{node: n, name: name, kind: typeOf(request), calls: make(chan *Call, maxCalls), do: do, refuse: refuse}
	var err error
	if s.requests, err = cdr.Compile(request); err != nil {
		return err
	}
	path := n.resolve(name)
	user := "serviceid=" + dotted(n.p.GUID().Append(nil)) + ";"
	if s.replies, err = n.writer("rr/"+path+"Reply", reply, q, user); err != nil {
		return err
	}
	if err := n.reader("rq/"+path+"Request", request, q, user, s.take); err != nil {
		return err
	}
	n.running = append(n.running, s.run)
	return nil
}

// dotted is bytes as Cyclone's rmw writes them.
func dotted(b []byte) string {
	words := make([]string, len(b))
	for i, v := range b {
		words[i] = fmt.Sprintf("%02x", v)
	}
	return strings.Join(words, ".")
}

// take queues a request.
func (s *service) take(m *rtps.Sample) {
	c := &Call{From: m.Writer.Prefix, Request: reflect.New(s.kind).Interface(), service: s, client: m.Writer,
		number: m.Sequence}
	payload := m.Payload
	if m.Vendor == cyclone {
		if len(payload) < payloadStart+cycloneStart {
			s.refuse(fmt.Errorf("%s: got a request of %d bytes, want its identity", s.name, len(payload)))
			return
		}
		c.inside = append([]byte(nil), payload[:payloadStart+cycloneStart]...)
		payload = append(append([]byte(nil), payload[:payloadStart]...), payload[payloadStart+cycloneStart:]...)
	} else if m.Related.Writer != (rtps.GUID{}) {
		c.client = m.Related.Writer // the reader of its replies
	}
	if err := s.requests.Decode(payload, c.Request); err != nil {
		s.refuse(fmt.Errorf("%s: %w", s.name, err))
		return
	}
	select {
	case s.calls <- c:
	default:
		s.refuse(fmt.Errorf("%s: got more than %d requests at once", s.name, maxCalls))
	}
}

func (s *service) run(ctx context.Context) {
	for {
		select {
		case c := <-s.calls:
			s.do(ctx, c)
		case <-ctx.Done():
			return
		}
	}
}

// Reply answers c with m, a pointer. It waits up to 100 ms until the client's reader is matched.
func (c *Call) Reply(ctx context.Context, m any) {
	s := c.service
	p := s.replies
	p.mu.Lock()
	p.b = p.codec.Append(p.b[:0], m)
	payload := append([]byte(nil), p.b...)
	p.mu.Unlock()
	if c.inside != nil {
		payload = append(c.head(), payload[payloadStart:]...)
	}
	for end := time.Now().Add(readerWait); ; {
		to := c.reader()
		for _, g := range to {
			p.Writer.Reply(payload, g, c.identity())
		}
		if len(to) > 0 || time.Now().After(end) {
			return
		}
		select {
		case <-time.After(readerPoll):
		case <-ctx.Done():
			return
		}
	}
}

// head is the start of a payload for Cyclone: the header, and the request's identity in our byte order.
func (c *Call) head() []byte {
	head, id := []byte{0, 1, 0, 0}, c.inside[payloadStart:]
	if c.inside[1] == 1 {
		return append(head, id...)
	}
	head = binary.LittleEndian.AppendUint64(head, binary.BigEndian.Uint64(id))
	return binary.LittleEndian.AppendUint64(head, binary.BigEndian.Uint64(id[8:]))
}

// identity is the request's in inline QoS; Cyclone's is in the payload.
func (c *Call) identity() rtps.Identity {
	if c.inside != nil {
		return rtps.Identity{}
	}
	return rtps.Identity{Writer: c.client, Sequence: c.number}
}

// reader finds the client's readers of replies: the one that it named, else those of its participant.
func (c *Call) reader() (all []rtps.GUID) {
	id := ""
	if c.inside != nil {
		id = c.service.node.p.UserData(c.client)
		if at := strings.Index(id, "clientid="); at >= 0 {
			id, _, _ = strings.Cut(id[at:], ";")
		} else {
			id = ""
		}
	}
	for _, r := range c.service.replies.Readers() {
		switch {
		case r.GUID == c.client:
			return []rtps.GUID{r.GUID}
		case r.GUID.Prefix == c.From && strings.Contains(r.UserData, id):
			all = append(all, r.GUID)
		}
	}
	return all
}
