package okon

import (
	"bytes"
	"net"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/protocols"
)

// TestClientInPieces: the Python client of knr-auv/autonomy writes type, flag, length and data of a packet apart. A
// socket that gathers small writes sends the next piece when the last one is acknowledged, which a kernel delays by 40
// ms. Through the listener that servers use.
func TestClientInPieces(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("TCP_QUICKACK is Linux's")
	}
	s := &stage{t: t, log: &journal{}}
	ln := protocols.Bound(listen(t), protocols.Limits{})
	s.start(config{}, ln, nil)
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.(*net.TCPConn).SetNoDelay(false)
	in := packets{from: conn, limit: maxReply}
	var took []time.Duration
	for range 31 {
		begin := time.Now()
		for _, piece := range [][]byte{{byte(Ping)}, {0}, {2, 0, 0, 0}, []byte("hi")} {
			if _, err := conn.Write(piece); err != nil {
				t.Fatal(err)
			}
		}
		var p Packet
		for p.Type != Ping {
			if err := in.next(&p); err != nil {
				t.Fatal(err)
			}
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	if median := took[len(took)/2]; median > 10*time.Millisecond {
		t.Errorf("a packet in pieces: got %v at the median, want 2 ms", median)
	} else {
		t.Logf("a packet in pieces: %v at the median", median)
	}
}

// TestLongPing: a PING of 2 MiB is sent back unchanged; its memory is freed afterwards, and a header reserves none.
func TestLongPing(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), maxPing/16)
	all := Append(Append(nil, Packet{Ping, DoNotLog, data}), Packet{Type: GetSensors})
	r := packets{from: bytes.NewReader(all), limit: maxRequest}
	var p Packet
	if err := r.next(&p); err != nil || !bytes.Equal(p.Data, data) {
		t.Fatalf("got %d bytes, %v; want %d", len(p.Data), err, len(data))
	}
	if err := r.next(&p); err != nil || p.Type != GetSensors {
		t.Fatalf("after it: got %v, %v", p.Type, err)
	}
	if r.next(&p); len(r.buf) > headerSize+maxRequest {
		t.Errorf("got %d bytes kept, want at most %d", len(r.buf), headerSize+maxRequest)
	}
	claim := appendHeader(nil, Ping, 0, maxPing)
	r = packets{from: bytes.NewReader(claim), limit: maxRequest}
	if r.next(&p); len(r.buf) > headerSize+maxRequest {
		t.Errorf("a length alone: got %d bytes, want at most %d", len(r.buf), headerSize+maxRequest)
	}
	if _, err := decode(appendHeader(nil, Ping, 0, maxPing+1), maxRequest, &p); err == nil {
		t.Error("a longer PING: got no error")
	}
}

// TestTorpedo: the last original launches one and sends only the echo requested by the flag.
func TestTorpedo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{Options: Options{Heartbeat: time.Hour}})
		s.play("a> TORPEDO 0\na> PING 0 x\na< PING 0 x\na> TORPEDO 1\na< ACK 0 {\"fromClient\":\"\"}")
	})
}
