package batch

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// frames are the examples of the package comment: what is said and its body.
func frames() []struct {
	name, body string
	decode     func([]byte) (any, error)
	encode     func() []byte
	want       any
} {
	hello := &Hello{Target: Copies, Copies: 2, Seed: -1, Actions: []string{"a"}}
	spaces := &Spaces{Copies: 2, Period: 10_000_000, Actions: []Column{{"a", "rad", -1, 1}}}
	refusal := &Refusal{Kind: 2, Text: "no"}
	return []struct {
		name, body string
		decode     func([]byte) (any, error)
		encode     func() []byte
		want       any
	}{
		{"hello", "01 484c5942 0100 00 02000000 ffffffffffffffff 0100 0100 61 0000",
			func(b []byte) (any, error) { return parseHello(b) }, func() []byte { return appendHello(nil, hello) },
			hello},
		{"spaces", "81 02000000 8096980000000000 0100 0100 61 0300 726164 000000000000f0bf 000000000000f03f 0000",
			func(b []byte) (any, error) { return parseSpaces(b) }, func() []byte { return appendSpaces(nil, spaces) },
			spaces},
		{"step", "02 000000000000f03f 00000000000000c0",
			func(b []byte) (any, error) {
				v := make([]float64, 2)
				return v, parseFloats(b, stepType, v)
			}, func() []byte { return appendStep(nil, []float64{1, -2}) }, []float64{1, -2}},
		{"reset", "03 00 01 0000000000000000 0700000000000000",
			func(b []byte) (any, error) {
				which, seeds := make([]bool, 2), make([]int64, 2)
				return []any{which, seeds}, parseReset(b, which, seeds)
			}, func() []byte {
				return appendReset(nil, 2, []bool{false, true}, []int64{0, 7})
			}, []any{[]bool{false, true}, []int64{0, 7}}},
		{"observations", "82 000000000000f03f",
			func(b []byte) (any, error) {
				v := make([]float64, 1)
				return v, parseFloats(b, observationsType, v)
			}, func() []byte { return appendObservations(nil, []float64{1}) }, []float64{1}},
		{"error", "ff 02 0200 6e6f",
			func(b []byte) (any, error) {
				_, err := parseSpaces(b)
				return err, nil
			}, func() []byte { return appendRefusal(nil, refusal) }, refusal},
	}
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

func TestFrames(t *testing.T) {
	for _, f := range frames() {
		body := unhex(f.body)
		if got := f.encode(); !bytes.Equal(got, body) {
			t.Errorf("%s: got % x, want % x", f.name, got, body)
		}
		if got, err := f.decode(body); err != nil || !reflect.DeepEqual(got, f.want) {
			t.Errorf("%s: got %+v, %v, want %+v", f.name, got, err, f.want)
		}
		if f.name == "error" {
			continue
		}
		for _, bad := range [][]byte{body[:len(body)-1], append(bytes.Clone(body), 0), {0}} {
			if _, err := f.decode(bad); err == nil {
				t.Errorf("%s: % x: got no error", f.name, bad)
			}
		}
	}
}

// counter is an environment that adds up.
type counter struct {
	sum    []float64
	closed chan struct{}
	fail   error
	homing bool // a reset lasts until its context ends
}

func (c *counter) Step(_ context.Context, actions, observations []float64) error {
	for i := range c.sum {
		c.sum[i] += actions[i]
	}
	copy(observations, c.sum)
	return c.fail
}

func (c *counter) Reset(ctx context.Context, which []bool, seeds []int64, observations []float64) error {
	if c.homing {
		<-ctx.Done()
		return ctx.Err()
	}
	for i := range which {
		if which[i] {
			c.sum[i] = float64(seeds[i])
		}
	}
	copy(observations, c.sum)
	return nil
}

func (c *counter) Close() error { close(c.closed); return nil }

// serve runs a server over a real socket of counters until the test ends.
func serve(t *testing.T, o Options) (string, *counter) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	env := &counter{closed: make(chan struct{})}
	s := NewServer(ln, func(h *Hello) (Environment, *Spaces, error) {
		if h.Seed == 13 {
			return nil, nil, &hal.Error{Kind: hal.Busy, Op: "batch", Err: errors.New("held by another client")}
		}
		env.sum = make([]float64, h.Copies)
		column := []Column{{Name: "x", Unit: "1", Min: -1, Max: 1}}
		return env, &Spaces{Copies: h.Copies, Period: 1e7, Actions: column, Observations: column}, nil
	}, o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	return s.Address().String(), env
}

func dial(t *testing.T, address string, h *Hello) (*Client, error) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return NewClient(conn, h)
}

func TestSession(t *testing.T) {
	address, env := serve(t, Options{MaxCopies: 8})
	c, err := dial(t, address, &Hello{Copies: 2, Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	seen := make([]float64, 2)
	if err := c.Step([]float64{1, 2}, seen); err != nil || seen[1] != 2 {
		t.Errorf("got %v, %v", seen, err)
	}
	if err := c.Reset([]bool{true, false}, []int64{7, 9}, seen); err != nil || seen[0] != 7 || seen[1] != 2 {
		t.Errorf("got %v, %v", seen, err)
	}
	env.fail = &hal.Error{Kind: hal.Unsafe, Op: "step", Err: errors.New("not armed")}
	if err := c.Step([]float64{1, 2}, seen); hal.KindOf(err) != hal.Unsafe ||
		!strings.Contains(err.Error(), "not armed") {
		t.Errorf("got %v, want the environment's refusal", err)
	}
	env.fail = nil
	if err := c.Step([]float64{math.NaN(), 0}, seen); err != nil || !math.IsNaN(seen[0]) {
		t.Errorf("after a refusal: got %v, %v", seen, err)
	}
	c.Close()
	<-env.closed
}

// A client that leaves while the rig is on its way home ends its session at once.
func TestLeaveInReset(t *testing.T) {
	address, env := serve(t, Options{})
	env.homing = true
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := NewClient(conn, &Hello{Target: Itself, Copies: 1}); err != nil {
		t.Fatal(err)
	}
	conn.Write(endFrame(appendReset(beginFrame(nil), 1, nil, nil)))
	select {
	case <-env.closed:
		t.Error("the session ended while its client waits")
	case <-time.After(100 * time.Millisecond):
	}
	conn.Close()
	select {
	case <-env.closed:
	case <-time.After(time.Minute):
		t.Error("a minute after the client left: the rig is still on its way")
	}
}

// Who asks for what is not to be had hears why.
func TestRefusals(t *testing.T) {
	address, _ := serve(t, Options{MaxCopies: 8})
	for name, h := range map[string]*Hello{"none": {}, "too many": {Copies: 9},
		"two real ones": {Copies: 2, Target: Itself}} {
		if _, err := dial(t, address, h); hal.KindOf(err) != hal.Invalid {
			t.Errorf("%s: got %v, want an invalid hello", name, err)
		}
	}
	if _, err := dial(t, address, &Hello{Copies: 1, Seed: 13}); hal.KindOf(err) != hal.Busy {
		t.Errorf("got %v, want busy", err)
	}
	for name, raw := range map[string]string{"not ours": "474554202f20485454502f312e310d0a0d0a",
		"a great length": "ffffffff01", "another version": "08000000 01 484c5942 0900 00"} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		conn.Write(unhex(raw))
		got, _ := io.ReadAll(conn)
		if len(got) < 6 || Type(got[4]) != errorType {
			t.Errorf("%s: got % x, want an error and the end", name, got)
		}
		conn.Close()
	}
}

func FuzzFrames(f *testing.F) {
	for _, k := range frames() {
		f.Add(unhex(k.body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if h, err := parseHello(body); err == nil && !bytes.Equal(appendHello(nil, h), body) {
			t.Errorf("hello: got % x again", appendHello(nil, h))
		}
		if s, err := parseSpaces(body); err == nil && !bytes.Equal(appendSpaces(nil, s), body) {
			t.Errorf("spaces: got % x again", appendSpaces(nil, s))
		}
		v, which, seeds := make([]float64, 2), make([]bool, 2), make([]int64, 2)
		if err := parseFloats(body, stepType, v); err == nil && !bytes.Equal(appendStep(nil, v), body) {
			t.Errorf("step: got % x again", appendStep(nil, v))
		}
		if err := parseReset(body, which, seeds); err == nil && !bytes.Equal(appendReset(nil, 2, which, seeds), body) {
			t.Errorf("reset: got % x again", appendReset(nil, 2, which, seeds))
		}
	})
}
