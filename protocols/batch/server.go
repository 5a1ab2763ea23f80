package batch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// DefaultPort is the default TCP port of the server.
const DefaultPort = 45460

// Environment is the rig of a session: copies of a rig, or the rig itself. Its methods are those of halyard.Batch; Step
// and Reset of the rig itself end with ctx.
type Environment interface {
	Step(ctx context.Context, actions, observations []float64) error
	Reset(ctx context.Context, which []bool, seeds []int64, observations []float64) error
	Close() error
}

// Opener opens the environment of a client's HELLO.
type Opener func(h *Hello) (Environment, *Spaces, error)

// Options are the settings of a server.
type Options struct {
	MaxClients  int           // 0 = 16
	MaxCopies   int           // of a session; 0 = 4096
	HelloWithin time.Duration // timeout of HELLO after the connection; 0 = 5 s
	Log         *slog.Logger  // nil = silent
	Contain     func(string)  // deferred in each session's goroutine: hal.Rig.Contain; nil = a panic ends the process
}

// Server serves environments, one a connection.
type Server struct {
	listener net.Listener
	open     Opener
	options  Options
}

// NewServer returns a server of the environments of open, for the clients of listener. It owns listener.
func NewServer(listener net.Listener, open Opener, o Options) *Server {
	protocols.Positive(&o.MaxClients, 16)
	protocols.Positive(&o.MaxCopies, 4096)
	protocols.Positive(&o.HelloWithin, 5*time.Second)
	o.Log = protocols.Logger(o.Log)
	if o.Contain == nil {
		o.Contain = func(string) {}
	}
	return &Server{listener: listener, open: open, options: o}
}

// Address is where the server listens.
func (s *Server) Address() net.Addr { return s.listener.Addr() }

// Serve serves until ctx ends or the listener breaks, then ends every session and waits for it.
func (s *Server) Serve(ctx context.Context) error {
	a := protocols.Acceptor{Name: "batch", Listener: s.listener, Limit: s.options.MaxClients,
		Contain: s.options.Contain, Log: s.options.Log}
	return a.Serve(ctx, func(ctx context.Context, conn net.Conn) {
		s.options.Log.Info("batch: session", "client", conn.RemoteAddr())
		err := s.session(ctx, conn)
		s.options.Log.Info("batch: session ends", "client", conn.RemoteAddr(), "why", err)
	})
}

// session serves one client until it leaves or ctx ends, and reports why.
func (s *Server) session(ctx context.Context, conn net.Conn) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	c := &session{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}
	conn.SetReadDeadline(time.Now().Add(s.options.HelloWithin))
	env, spaces, err := s.hello(c)
	if err != nil {
		return errors.Join(err, c.refuse(err))
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	conn.SetReadDeadline(time.Time{})
	if err := c.send(appendSpaces(beginFrame(c.out), spaces)); err != nil {
		return err
	}
	n := spaces.Copies
	actions, observations := make([]float64, n*len(spaces.Actions)), make([]float64, n*len(spaces.Observations))
	which, seeds := make([]bool, n), make([]int64, n)
	most := 1 + max(8*len(actions), 9*n)
	looked := make(chan struct{})
	close(looked)
	defer func() {
		conn.Close()
		<-looked
	}()
	for {
		<-looked
		if c.body, err = readFrame(c.in, c.body, most); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return errors.Join(err, c.refuse(err))
		}
		switch t := Type(c.body[0]); t {
		case stepType:
			if err = parseFloats(c.body, stepType, actions); err == nil {
				err = env.Step(ctx, actions, observations)
			}
		case resetType:
			if err = parseReset(c.body, which, seeds); err == nil {
				looked = s.look(c, cancel)
				err = env.Reset(ctx, which, seeds, observations)
			}
		default:
			err = fmt.Errorf("batch: got a frame of type %d, want STEP or RESET", t)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			err = c.refuse(err)
		} else {
			err = c.send(appendObservations(beginFrame(c.out), observations))
		}
		if err != nil {
			return err
		}
	}
}

// hello opens the environment of the client's HELLO.
func (s *Server) hello(c *session) (Environment, *Spaces, error) {
	const most = 1 << 20 // of a HELLO
	var err error
	if c.body, err = readFrame(c.in, c.body, most); err != nil {
		return nil, nil, err
	}
	h, err := parseHello(c.body)
	if err != nil {
		return nil, nil, err
	}
	if h.Copies < 1 || h.Copies > s.options.MaxCopies || h.Target == Itself && h.Copies != 1 {
		return nil, nil, &hal.Error{Kind: hal.Invalid, Op: "batch",
			Err: fmt.Errorf("got %d copies, want 1..%d, of the rig itself 1", h.Copies, s.options.MaxCopies)}
	}
	if !protocols.Recognize(c.conn) {
		return nil, nil, protocols.ErrStranger
	}
	return s.open(h)
}

// session is one connection.
type session struct {
	conn      net.Conn
	in        *bufio.Reader
	body, out []byte
}

// look waits for more from the client and calls left if it leaves instead: the way home of a real robot takes seconds,
// and does not go on without its client. Nothing else may read until the channel is closed.
func (s *Server) look(c *session, left func()) (looked chan struct{}) {
	looked = make(chan struct{})
	go func() {
		defer s.options.Contain("batch reader")
		defer close(looked)
		if _, err := c.in.Peek(1); err != nil {
			left()
		}
	}()
	return looked
}

// send completes and sends the frame b, which was begun in c.out. A client that does not read blocks only itself.
func (c *session) send(b []byte) error {
	c.out = endFrame(b)
	_, err := c.conn.Write(c.out)
	return err
}

func (c *session) refuse(err error) error {
	return c.send(appendRefusal(beginFrame(c.out), &Refusal{uint8(hal.KindOf(err)), err.Error()}))
}
