package nml

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
	"github.com/halyard-robotics/halyard/protocols"
)

// serve starts a server of buffers on a network in memory; the test's end stops it.
func serve(t *testing.T, o Options, buffers ...BufferOptions) (*Server, *protocolstest.Pipes, []*Buffer) {
	t.Helper()
	var all []*Buffer
	for _, b := range buffers {
		buffer, err := NewBuffer(b)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, buffer)
	}
	pipes := protocolstest.NewPipes("nml")
	s, err := NewServer(pipes, all, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Serve(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return s, pipes, all
}

var b1 = BufferOptions{Name: "b1", Number: 1, Size: 1024, Vocabulary: words}

const velPacked = "4c 4a1f0000 28000000 07000000 000000000000e03f 000000000000d0bf"

// transcripts are sessions as bytes: C from the client, S from the server. Those of captured were captured from rcslib.
var transcripts = []struct {
	name    string
	buffers []BufferOptions
	lines   string
}{
	{"captured packed", []BufferOptions{b1}, `
C 00000000 0000000c 00000001 00000000 00000000
S 00000001 00000000 6231000000000000000000000000000000000000000000000000000000000000
C 00000001 00000001 00000001 00000001 00000000
S 00000002 00000001 00000000 00000000 00000001
C 00000002 00000002 00000001 00000004 0000001d ` + velPacked + `
C 00000003 00000001 00000001 00000003 00000000
S 00000004 00000002 0000001d 00000001 00000000 ` + velPacked + `
C 00000004 00000001 00000001 00000001 00000000
S 00000005 00000002 0000001d 00000001 00000000 ` + velPacked + `
C 00000004 00000001 00000001 00000001 00000001
S 00000005 00000001 00000000 00000001 00000001`},
	{"captured xdr", []BufferOptions{{Name: "b1", Number: 1, Encoding: XDR, Vocabulary: words}}, `
C 00000002 00000002 00000001 00000004 0000001c 00001f4a 00000028 00000007 3fe0000000000000 bfd0000000000000
C 00000003 00000001 00000001 00000001 00000000
S 00000004 00000002 0000001c 00000001 00000000 00001f4a 00000028 00000007 3fe0000000000000 bfd0000000000000`},
	{"the buffer's encoding", []BufferOptions{{Name: "b1", Number: 1, Encoding: XDR, Vocabulary: words}}, `
C 00000002 00000002 00000001 00000004 0000001d 4c 4a1f0000 ffffffff 07000000 000000000000e03f 000000000000d0bf
C 00000003 00000001 00000001 00000001 00000000
S 00000004 00000002 0000001c 00000001 00000000 00001f4a 00000028 00000007 3fe0000000000000 bfd0000000000000`},
	{"check, clear, count, length, space", []BufferOptions{b1}, `
C 00000000 00000003 00000001 00000000 00000000
S 00000001 00000002 00000001
C 00000001 00000002 00000001 00000004 0000001d ` + velPacked + `
C 00000002 00000003 00000001 00000000 00000000
S 00000003 00000002 00000000
C 00000003 00000010 00000001 12345678 9abcdef0
S 00000004 00000002 00000001
C 00000004 00000011 00000001 00000000 00000000
S 00000005 00000002 00000001
C 00000005 00000012 00000001 00000000 00000000
S 00000006 00000002 00001000
C 00000006 00000005 00000001 00000000 00000000
S 00000007 00000005
C 00000007 00000011 00000001 00000000 00000000
S 00000008 00000002 00000000
C 00000008 00000001 00000001 00000001 00000000
S 00000009 00000001 00000000 00000001 00000000`},
	{"nothing, then the end", []BufferOptions{b1}, `
C 00000000 00000000 00000001 00000000 00000000
C 00000001 00000003 00000001 00000000 00000000
S 00000002 00000002 00000001
C 00000002 00000006 00000001 00000000 00000000`},
	{"keys, login, subscriptions", []BufferOptions{b1}, `
C 00000000 00000007 00000001 00000000 00000000 00000000000000000000000000000000
S 00000001 0000000000000000 0000000000000000
C 00000001 00000008 00000001 00000000 00000000 0000000000000000000000000000000000000000000000000000000000000000
S 00000002 00000001
C 00000002 00000009 00000001 00000001 00000064
S 00000003 00000000
C 00000003 0000000d 00000001 00000000 00000000
S 00000004 00000001`},
	{"queue", []BufferOptions{{Name: "b1", Number: 1, Size: 15, Queue: true, ConfirmWrite: true, Vocabulary: words}}, `
C 00000000 00000002 00000001 00000004 0000001d ` + velPacked + `
S 00000001 00000003 00000001
C 00000001 00000002 00000001 00000004 0000001d ` + strings.Replace(velPacked, "07", "08", 1) + `
S 00000002 00000003 00000000
C 00000002 00000002 00000001 00000004 0000001d ` + velPacked + `
S 00000003 fffffff9 00000000
C 00000003 00000011 00000001 00000000 00000000
S 00000004 00000002 00000002
C 00000004 00000001 00000001 00000003 00000000
S 00000005 00000002 0000001d 00000001 00000000 ` + velPacked + `
C 00000005 00000001 00000001 00000001 00000001
S 00000006 00000002 0000001d 00000001 00000000 ` + velPacked + `
C 00000006 00000001 00000001 00000001 00000001
S 00000007 00000002 0000001d 00000002 00000000 ` + strings.Replace(velPacked, "07", "08", 1) + `
C 00000007 00000001 00000001 00000001 00000002
S 00000008 00000001 00000000 00000002 00000000`},
	{"write if read", []BufferOptions{{Name: "b1", Number: 1, ConfirmWrite: true, Vocabulary: words}}, `
C 00000000 00000002 00000001 00000005 0000001d ` + velPacked + `
S 00000001 00000003 00000001
C 00000001 00000002 00000001 00000005 0000001d ` + velPacked + `
S 00000002 00000004 00000000
C 00000002 00000001 00000001 00000001 00000000
S 00000003 00000002 0000001d 00000001 00000000 ` + velPacked + `
C 00000003 00000002 00000001 00000005 0000001d ` + velPacked + `
S 00000004 00000003 00000001`},
	{"refused writes", []BufferOptions{{Name: "b1", Number: 1, ConfirmWrite: true, Vocabulary: words}}, `
C 00000000 00000002 00000001 00000004 0000000c 4c 4a1f0000 28000000 070000
S 00000001 fffffffe 00000000
C 00000001 00000002 00000001 00000004 00000009 4c 4b1f0000 28000000
S 00000002 fffffffe 00000000
C 00000002 00000002 00000001 00000004 00000001 41
S 00000003 fffffffe 00000000
C 00000003 00000002 00000001 00000004 00000000
S 00000004 fffffffe 00000000`},
	{"unknown buffer", []BufferOptions{b1}, `
C 00000000 0000000c 00000002 00000000 00000000
S 00000001 fffffff1 0000000000000000000000000000000000000000000000000000000000000000
C 00000001 00000001 00000002 00000001 00000000
S 00000002 fffffff1 00000000 00000000 00000000
C 00000002 00000002 00000002 00000004 00000004 00000000
C 00000003 00000010 00000002 00000000 00000000
S 00000004 fffffff1 00000000
C 00000004 00000005 00000002 00000000 00000000
S 00000005 fffffff1`},
	{"what rcslib's clients may ask besides",
		[]BufferOptions{{Name: "b1", Number: 1, Size: 1024, Queue: true, Vocabulary: words}}, `
C 00000000 00000004 00000001 00000000 00000000
C 00000001 0000000e 00000001 00000000 00000000 ` + strings.Repeat("00", 68) + `
C 00000002 0000000f 00000001 00000000 00000000
S 00000003 fffffff4 ` + strings.Repeat("00000000 ", 6) + `
C 00000003 0000000a 00000001 00000000 00000000
S 00000004 fffffff4 00000000 00000000 00000000
C 00000004 0000001f 00000001 00000000 00000000
S 00000005 00000002 00000000
C 00000005 0000001b 00000001 00000000 00000000
S 00000006 00000002 00000001
C 00000006 00000018 00000001 00000000 00000000
S 00000007 00000002 00000001
C 00000007 00000013 00000001 00000004 0000001d 00000009 ` + velPacked + `
C 00000008 0000001f 00000001 00000000 00000000
S 00000009 00000002 00001f4a
C 00000009 00000014 00000001 00000004 0000001d 00000001 ` + velPacked + `
C 0000000a 00000017 00000001 00000001 00000000
S 0000000b 00000002 00000001
C 0000000b 0000001b 00000001 00000000 00000000
S 0000000c 00000002 00000000
C 0000000c 00000001 00000001 00000001 00000000
S 0000000d 00000002 0000001d 00000001 00000000 ` + velPacked + `
C 0000000d 0000001a 00000001 00000000 00000000
S 0000000e 00000002 00000001
C 0000000e 00000017 00000001 00000000 00000001
S 0000000f 00000002 00000000
C 0000000f 0000001c 00000001 00000000 00000000 ` + strings.Repeat("00", 268) + `
S 00000010 00000000 00000000
C 00000010 0000001d 00000001 00000000 00000001
S 00000011 00000000 00000000 00000000
C 00000011 0000001e 00000001 00000000 00000001
S 00000012 00000000
C 00000012 00000020 00000001 00000000 00000000
S 00000013 00000003 623100
C 00000013 00000021 00000001 00000000 00000000 ` + hex.EncodeToString([]byte("b1")) + strings.Repeat("00", 62) + `
S 00000014 00000043 ` + hex.EncodeToString([]byte("B b1                   SHMEM localhost 1024 0 * 1 * 0 packed queue\x00")) + `
C 00000014 00000021 00000001 00000000 00000000 ` + strings.Repeat("78", 64) + `
S 00000015 00000001 00
C 00000015 00000015 00000002 00000000 00000000
S 00000016 fffffff1 00000000`},
	{"several buffers on a port", []BufferOptions{b1, {Name: "b9", Number: 9, Vocabulary: words}}, `
C 00000000 00000002 00000009 00000004 0000001d ` + velPacked + `
C 00000001 00000010 00000001 00000000 00000000
S 00000002 00000002 00000000
C 00000002 00000010 00000009 00000000 00000000
S 00000003 00000002 00000001`},
}

func TestTranscripts(t *testing.T) {
	for _, k := range transcripts {
		t.Run(k.name, func(t *testing.T) {
			_, pipes, _ := serve(t, Options{}, k.buffers...)
			conn := pipes.Dial()
			defer conn.Close()
			for line := range strings.Lines(strings.TrimSpace(k.lines)) {
				want := fromHex(line[1:])
				if line[0] == 'C' {
					conn.Write(want)
					continue
				}
				got := make([]byte, len(want))
				if _, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("got\nS %s, %v, want\n%s", hex.EncodeToString(got), err, line)
				}
			}
			conn.Write(fromHex("00000063 00000006 00000001 00000000 00000000"))
			if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil {
				t.Errorf("after close: got %d bytes, %v, want the end", n, err)
			}
		})
	}
}

func TestBlockingRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, pipes, buffers := serve(t, Options{}, b1)
		conn := pipes.Dial()
		defer conn.Close()
		ask := func(milliseconds string) (string, time.Duration) {
			start := time.Now()
			conn.Write(fromHex("00000001 0000000b 00000001 00000001 00000000" + milliseconds))
			reply := make([]byte, 20)
			io.ReadFull(conn, reply)
			rest := make([]byte, reply[11])
			io.ReadFull(conn, rest)
			return hex.EncodeToString(reply), time.Since(start)
		}
		if got, after := ask("00000fa0"); got[8:16] != "fffffffa" || after != 4*time.Second {
			t.Errorf("no message: got %s after %v, want status -6 after 4 s", got, after)
		}
		var writer sync.WaitGroup
		writer.Go(func() {
			time.Sleep(time.Second)
			buffers[0].Write(&vel{7, 0.5, -0.25})
		})
		if got, after := ask("ffffffff"); got != "00000002000000020000001d0000000100000000" || after != time.Second {
			t.Errorf("a message: got %s after %v, want status 2 after 1 s", got, after)
		}
		writer.Wait()
	})
}

// TestWaits: a request that waits for a change is answered when it comes, and not before.
func TestWaits(t *testing.T) {
	for name, k := range map[string]struct {
		request, want string
		change        func(b *Buffer)
	}{
		"write":    {"00000015 00000001 00000000 00000000", "0000000200000002", func(b *Buffer) { b.Write(&vel{}) }},
		"read":     {"00000016 00000001 00000000 00000000", "0000000200000001", func(b *Buffer) { b.Read(words, 0) }},
		"clear":    {"00000018 00000001 00000000 00000000", "0000000200000001", (*Buffer).Clear},
		"anything": {"00000019 00000001 00000000 00000000", "0000000200000000", (*Buffer).Clear},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, pipes, buffers := serve(t, Options{}, b1)
				buffers[0].Write(&vel{})
				conn := pipes.Dial()
				defer conn.Close()
				start := time.Now()
				var change sync.WaitGroup
				change.Go(func() { time.Sleep(time.Second); k.change(buffers[0]) })
				conn.Write(fromHex("00000001" + k.request))
				reply := make([]byte, 12)
				if _, err := io.ReadFull(conn, reply); err != nil || hex.EncodeToString(reply[4:]) != k.want ||
					time.Since(start) != time.Second {
					t.Errorf("got %x, %v after %v, want %s after 1 s", reply, err, time.Since(start), k.want)
				}
				change.Wait()
			})
		})
	}
}

// TestGone: a client that leaves during a blocking read without end frees its place, also if it has sent another
// request behind it, as one that closes its channel.
func TestGone(t *testing.T) {
	for name, more := range map[string]string{"at once": "",
		"having closed": "00000002 00000006 00000001 00000000 00000000"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, pipes, _ := serve(t, Options{MaxConnections: 1}, b1)
				conn := pipes.Dial()
				conn.Write(fromHex("00000001 0000000b 00000001 00000001 00000000 ffffffff"))
				conn.Write(fromHex(more))
				synctest.Wait()
				second := pipes.Dial()
				if _, err := second.Read(make([]byte, 1)); err == nil || s.Traffic().Dropped(protocols.Full) != 1 {
					t.Errorf("a connection too many: got %v, want its end", err)
				}
				conn.Close()
				synctest.Wait()
				third := pipes.Dial()
				defer third.Close()
				third.Write(fromHex("00000000 00000005 00000001 00000000 00000000"))
				if _, err := io.ReadFull(third, make([]byte, 8)); err != nil {
					t.Errorf("after the first has left: got %v", err)
				}
			})
		})
	}
}

// TestDeaf: a client that never reads loses its connection; another is served meanwhile.
func TestDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, pipes, _ := serve(t, Options{WriteTimeout: time.Second}, b1)
		deaf, other := pipes.Dial(), pipes.Dial()
		defer other.Close()
		ask := fromHex("00000000 00000005 00000001 00000000 00000000")
		deaf.Write(ask)
		other.Write(ask)
		if _, err := io.ReadFull(other, make([]byte, 8)); err != nil {
			t.Errorf("the other: got %v", err)
		}
		time.Sleep(2 * time.Second)
		if _, err := deaf.Write(ask); err == nil {
			t.Error("the deaf client: got a connection that is open")
		}
	})
}

// TestHostile: what is not a request ends the connection, and nothing large is allocated for it.
func TestHostile(t *testing.T) {
	for name, in := range map[string]string{
		"unknown type":  "00000000 00000063 00000001 00000000 00000000",
		"oversized":     "00000000 00000002 00000001 00000004 7fffffff",
		"negative size": "00000000 00000002 00000001 00000004 ffffffff",
		"text":          hex.EncodeToString([]byte("GET / HTTP/1.0\r\n\r\n      ")),
	} {
		s, pipes, _ := serve(t, Options{}, b1)
		conn := pipes.Dial()
		conn.Write(fromHex(in))
		if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Errorf("%s: got %d bytes, %v, want the end", name, n, err)
		}
		if s.Traffic().Dropped(protocols.Unknown)+s.Traffic().Dropped(protocols.Oversized) != 1 {
			t.Errorf("%s: not counted", name)
		}
	}
}

// TestTwoWriters: messages of two writers do not mix.
func TestTwoWriters(t *testing.T) {
	_, pipes, buffers := serve(t, Options{}, b1)
	var writers sync.WaitGroup
	for i := range 2 {
		writers.Go(func() {
			c, err := NewClient(pipes.Dial(), b1)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			for range 100 {
				c.Write(&vel{int32(i), float64(i), float64(i)}, false)
			}
			c.Count() // answered after the writes
		})
	}
	for range 200 {
		m, _, err := buffers[0].Read(words, 0)
		if err == nil {
			if v := m.(*vel); v.V != float64(v.Serial) || v.W != v.V {
				t.Errorf("got a mixture: %+v", v)
			}
		} else if !errors.Is(err, ErrOld) {
			t.Error(err)
		}
	}
	writers.Wait()
	if n := buffers[0].State().Count; n != 200 {
		t.Errorf("count: got %d, want 200", n)
	}
}

func TestClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, encoding := range []Encoding{Packed, XDR, Disp} {
			o := BufferOptions{Name: "aBufferWhoseNameIsLongerThanTheReply", Number: 3, Encoding: encoding,
				ConfirmWrite: true, Vocabulary: words}
			_, pipes, _ := serve(t, Options{}, o)
			c, err := NewClient(pipes.Dial(), o)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Read(words); !errors.Is(err, ErrOld) {
				t.Errorf("%v: nothing: got %v, want %v", encoding, err, ErrOld)
			}
			if err := c.Write(full, false); err != nil {
				t.Errorf("%v: write: %v", encoding, err)
			}
			var refused *StatusError
			if err := c.Write(full, true); !errors.As(err, &refused) || refused.Status != WriteBlocked {
				t.Errorf("%v: write if read: got %v, want %v", encoding, err, WriteBlocked)
			}
			if m, err := c.Peek(words); err != nil || !same(m, full) {
				t.Errorf("%v: peek: got %+v, %v", encoding, m, err)
			}
			if read, err := c.CheckRead(); read || err != nil {
				t.Errorf("%v: after a peek: got %v, %v, want unread", encoding, read, err)
			}
			if m, err := c.Read(words); err != nil || !same(m, full) {
				t.Errorf("%v: read: got %+v, %v", encoding, m, err)
			}
			if _, err := c.BlockingRead(words, 7*time.Second); !errors.Is(err, ErrOld) {
				t.Errorf("%v: blocking: got %v, want %v", encoding, err, ErrOld)
			}
			if n, err := c.Count(); n != 1 || err != nil {
				t.Errorf("%v: count: got %d, %v, want 1", encoding, n, err)
			}
			if n, err := c.Space(); n != 4*DefaultSize || err != nil {
				t.Errorf("%v: space: got %d, %v", encoding, n, err)
			}
			if err := c.Clear(); err != nil {
				t.Error(err)
			}
			if n, err := c.Length(); n != 0 || err != nil {
				t.Errorf("%v: length: got %d, %v, want 0", encoding, n, err)
			}
			c.Close()
			o.Name = "other"
			if _, err := NewClient(pipes.Dial(), o); !errors.Is(err, ErrProtocol) {
				t.Errorf("%v: another name: got %v, want %v", encoding, err, ErrProtocol)
			}
		}
	})
}

// TestBadServer: a client refuses replies that do not fit.
func TestBadServer(t *testing.T) {
	for name, reply := range map[string]string{
		"serial": "00000009 00000000 6231",
		"short":  "00000001",
	} {
		near, far := net.Pipe()
		var server sync.WaitGroup
		server.Go(func() {
			io.ReadFull(far, make([]byte, 20))
			b := make([]byte, 40)
			n := copy(b, fromHex(reply))
			if name == "short" {
				b = b[:n]
			}
			far.Write(b)
			far.Close()
		})
		if _, err := NewClient(near, b1); err == nil {
			t.Errorf("%s: got a client", name)
		}
		server.Wait()
	}
	near, far := net.Pipe()
	c := &Client{conn: near, buffer: b1}
	var server sync.WaitGroup
	server.Go(func() {
		io.ReadFull(far, make([]byte, 20))
		far.Write(fromHex("00000001 00000002 7fffffff 00000001 00000000"))
	})
	if _, err := c.Read(words); !errors.Is(err, ErrProtocol) {
		t.Errorf("a message of 2 GB: got %v, want %v", err, ErrProtocol)
	}
	server.Wait()
	near.Close()
}

func FuzzSession(f *testing.F) {
	for _, k := range transcripts {
		var in []byte
		for line := range strings.Lines(strings.TrimSpace(k.lines)) {
			if line[0] == 'C' {
				in = append(in, fromHex(line[1:])...)
			}
		}
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		buffer, _ := NewBuffer(BufferOptions{Name: "b1", Number: 1, Size: 64, Vocabulary: words, ConfirmWrite: true})
		pipes := protocolstest.NewPipes("nml")
		s, _ := NewServer(pipes, []*Buffer{buffer}, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { s.Serve(ctx) })
		conn := pipes.Dial()
		running.Go(func() { io.Copy(io.Discard, conn) })
		conn.Write(in)
		conn.Close()
		cancel()
		running.Wait()
		if m, _, err := buffer.Read(words, 0); err == nil && m == nil {
			t.Error("got no message and no error")
		}
	})
}
