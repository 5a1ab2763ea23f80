package ros2

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/halyard-robotics/halyard/internal/protocols/cdr"
	"github.com/halyard-robotics/halyard/internal/protocols/fields"
	"github.com/halyard-robotics/halyard/internal/protocols/rosmsg"
	"github.com/halyard-robotics/halyard/internal/protocols/rtps"
)

// Quality is how samples of a topic are sent or received.
type Quality struct {
	Reliable, Transient bool
	Depth               int
}

// The profiles of ROS.
var (
	Default = Quality{Reliable: true, Depth: 10}
	Sensor  = Quality{Reliable: true, Depth: 5} // a writer that serves both kinds of readers
	Latched = Quality{Reliable: true, Transient: true, Depth: 1}
	Params  = Quality{Reliable: true, Depth: 1000}
)

// Node is one ROS 2 node, alone in its participant. Add publishers, subscriptions and services, then Run.
type Node struct {
	namespace, name string // "/", "/arm"
	p               *rtps.Participant

	mu               sync.Mutex
	readers, writers []rtps.GUID
	graph            *rtps.Writer
	wide             map[rtps.Prefix]bool // peers with ids of 24 bytes
	told             map[rtps.GUID]bool   // readers of the graph that have it: their size
	narrow, long     *cdr.Codec
	running          []func(context.Context)
	contain          func(string)
}

// NewNode returns a node over t. namespace is "" or "/arm".
func NewNode(t rtps.Transport, o rtps.Options, namespace, name string) (*Node, error) {
	namespace = "/" + strings.Trim(namespace, "/")
	for _, part := range strings.Split(strings.Trim(namespace, "/"), "/") {
		if namespace != "/" && !validName(part) {
			return nil, fmt.Errorf("ros2: namespace: got %.100q, want names of letters, digits and _ between /",
				namespace)
		}
	}
	if !validName(name) {
		return nil, fmt.Errorf("ros2: node: got %.100q, want letters, digits and _", name)
	}
	o.UserData = "enclave=/;"
	p, err := rtps.New(t, o)
	if err != nil {
		return nil, err
	}
	n := &Node{namespace: namespace, name: name, p: p, wide: map[rtps.Prefix]bool{}, told: map[rtps.GUID]bool{},
		contain: o.Contain}
	if n.contain == nil {
		n.contain = func(string) {}
	}
	if n.narrow, err = cdr.Compile(rosmsg.Participant{}); err != nil {
		return nil, err
	}
	if n.long, err = cdr.Compile(rosmsg.Participant24{}); err != nil {
		return nil, err
	}
	e := rtps.Endpoint{Topic: "ros_discovery_info", Type: rosmsg.DDSName(rosmsg.Participant{}), Reliable: true,
		Transient: true, Depth: 64, UserData: "typehash=" + rosmsg.Hash(rosmsg.Participant{}) + ";"}
	if n.graph, err = p.NewWriter(e); err != nil {
		return nil, err
	}
	_, err = p.NewReader(e, n.meet)
	return n, err
}

// validName reports whether s is a name of ROS: letters, digits and _, no digit first.
func validName(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// Name turns a node's name into one that ROS allows.
func Name(s string) string {
	b := []byte(s)
	for i, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			b[i] = '_'
		}
	}
	if len(b) == 0 || b[0] >= '0' && b[0] <= '9' {
		b = append([]byte("n"), b...)
	}
	return string(b)
}

// resolve is a name in the node's namespace, without its first /.
func (n *Node) resolve(name string) string {
	if full, ok := strings.CutPrefix(name, "/"); ok {
		return full
	}
	return strings.TrimPrefix(n.namespace+"/", "/") + name
}

// Run takes part until ctx ends.
func (n *Node) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	for _, f := range n.running {
		running.Go(func() {
			defer n.contain("ros2 service")
			f(ctx)
		})
	}
	return n.p.Run(ctx)
}

// meet notes the size of a peer's ids: its message's first bytes are its own.
func (n *Node) meet(s *rtps.Sample) {
	var whole rosmsg.Participant
	wide := false
	fits := func(n int) bool { return len(s.Payload) >= n && len(s.Payload) < n+4 } // but for padding
	if n.narrow.Decode(s.Payload, &whole) != nil || rtps.Prefix(whole.GID.Data[:12]) != s.Writer.Prefix ||
		!fits(len(n.narrow.Append(nil, &whole))) {
		var long rosmsg.Participant24
		if n.long.Decode(s.Payload, &long) != nil || rtps.Prefix(long.GID.Data[:12]) != s.Writer.Prefix {
			return // neither
		}
		wide = true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.wide[s.Writer.Prefix] != wide && (len(n.wide) < 256 || !wide) {
		if n.wide[s.Writer.Prefix] = wide; !wide {
			delete(n.wide, s.Writer.Prefix)
		}
	}
}

// tell sends the graph to each reader that lacks it, in the size of its participant.
func (n *Node) tell() {
	all := n.graph.Readers()
	n.mu.Lock()
	defer n.mu.Unlock()
	told := map[rtps.GUID]bool{}
	for _, r := range all {
		wide := n.wide[r.GUID.Prefix]
		if was, have := n.told[r.GUID]; !have || was != wide {
			n.graph.Reply(n.state(wide), r.GUID, rtps.Identity{})
		}
		told[r.GUID] = wide
	}
	n.told = told
	for prefix := range n.wide {
		if !n.p.Alive(prefix) {
			delete(n.wide, prefix)
		}
	}
}

// state is the graph of this node. Under mu.
func (n *Node) state(wide bool) []byte {
	if wide {
		ids := func(all []rtps.GUID) (out []rosmsg.GID24) {
			for _, g := range all {
				out = append(out, rosmsg.GID24{Data: [24]byte(append(g.Append(nil), make([]byte, 8)...))})
			}
			return out
		}
		return n.long.Append(nil, &rosmsg.Participant24{GID: ids([]rtps.GUID{n.p.GUID()})[0],
			Nodes: []rosmsg.Node24{{NodeNamespace: n.namespace, NodeName: n.name, Readers: ids(n.readers),
				Writers: ids(n.writers)}}})
	}
	ids := func(all []rtps.GUID) (out []rosmsg.GID) {
		for _, g := range all {
			out = append(out, rosmsg.GID{Data: [16]byte(g.Append(nil))})
		}
		return out
	}
	return n.narrow.Append(nil, &rosmsg.Participant{GID: ids([]rtps.GUID{n.p.GUID()})[0],
		Nodes: []rosmsg.Node{{NodeNamespace: n.namespace, NodeName: n.name, Readers: ids(n.readers),
			Writers: ids(n.writers)}}})
}

// Publisher sends messages of one type. One goroutine at a time uses it.
type Publisher struct {
	*rtps.Writer
	codec *cdr.Codec
	mu    sync.Mutex
	b     []byte
}

// endpoint describes a writer or reader of a message.
func endpoint(topic string, m fields.Named, q Quality, user string) rtps.Endpoint {
	return rtps.Endpoint{Topic: topic, Type: rosmsg.DDSName(m), Reliable: q.Reliable, Transient: q.Transient,
		Depth: q.Depth, UserData: "typehash=" + rosmsg.Hash(m) + ";" + user}
}

func (n *Node) writer(topic string, m fields.Named, q Quality, user string) (*Publisher, error) {
	codec, err := cdr.Compile(m)
	if err != nil {
		return nil, err
	}
	w, err := n.p.NewWriter(endpoint(topic, m, q, user))
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	n.writers = append(n.writers, w.GUID())
	n.mu.Unlock()
	return &Publisher{Writer: w, codec: codec}, nil
}

// reader calls handle with each message decoded; drop, with what could not be.
func (n *Node) reader(topic string, m fields.Named, q Quality, user string, handle func(*rtps.Sample)) error {
	r, err := n.p.NewReader(endpoint(topic, m, q, user), handle)
	if err == nil {
		n.mu.Lock()
		n.readers = append(n.readers, r.GUID())
		n.mu.Unlock()
	}
	return err
}

// Publish adds a publisher of a topic: of the namespace, or with a / of none.
func (n *Node) Publish(topic string, m fields.Named, q Quality) (*Publisher, error) {
	return n.writer("rt/"+n.resolve(topic), m, q, "")
}

// Send sends m, a pointer to a message of the publisher's type.
func (p *Publisher) Send(m any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.b = p.codec.Append(p.b[:0], m)
	p.Write(p.b)
}

// Subscribe adds a subscription: handle gets each message, a new one of m's type, and must not block. What cannot be
// decoded goes to refuse.
func (n *Node) Subscribe(topic string, m fields.Named, q Quality, handle func(from rtps.GUID, m any),
	refuse func(error)) error {
	codec, err := cdr.Compile(m)
	if err != nil {
		return err
	}
	kind := typeOf(m)
	return n.reader("rt/"+n.resolve(topic), m, q, "", func(s *rtps.Sample) {
		v := reflect.New(kind).Interface()
		if err := codec.Decode(s.Payload, v); err != nil {
			refuse(fmt.Errorf("%s: %w", topic, err))
			return
		}
		handle(s.Writer, v)
	})
}

func typeOf(m any) reflect.Type {
	t := reflect.TypeOf(m)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
