package lidar

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
	"github.com/halyard-robotics/halyard/servo"
)

// noLine is an opener without an adapter.
func noLine() (servo.Line, error) {
	return nil, &hal.Error{Kind: hal.Absent, Op: "open", Err: servo.ErrDisconnected}
}

// babbler is a line whose device sends without a pause.
type babbler struct {
	now   time.Duration
	reads int
}

func (b *babbler) Read(p []byte, _ time.Duration) (int, error) {
	b.reads++
	b.now += 100 * time.Microsecond
	for i := range p {
		p[i] = byte(i)
	}
	return len(p), nil
}
func (b *babbler) Write(p []byte) (int, error) { return len(p), nil }
func (b *babbler) Discard() error              { return nil }
func (b *babbler) Now() time.Duration          { return b.now }
func (b *babbler) Baud() int                   { return 115200 }
func (b *babbler) SetBaud(int) error           { return nil }
func (b *babbler) Close() error                { return nil }
func (b *babbler) SetDTR(bool) error           { return nil }

// Opening, reading and closing end though the other end does not.
func TestBabbler(t *testing.T) {
	line := &babbler{}
	open := func() (servo.Line, error) { return line, nil }
	m, _ := HokuyoModelOf("URG-04LX")
	lms, err1 := NewSICK(SICKSettings{Line: open})
	asked, err2 := NewSICK(SICKSettings{Line: open, Request: true})
	urg, err3 := NewHokuyo(HokuyoSettings{Line: open, Model: m})
	rp, err4 := NewRPLidar(RPLidarSettings{Line: open})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]interface {
		Open() error
		Read([]float64) error
		Close() error
	}{"lms": lms, "asked": asked, "urg": urg, "rplidar": rp} {
		began := line.now
		if err := d.Open(); err == nil {
			t.Errorf("%s: opened", name)
		}
		if took := line.now - began; took > 4*time.Second {
			t.Errorf("%s: opening took %v", name, took)
		}
		began = line.now
		if err := d.Read(make([]float64, 700)); err == nil || line.now-began > time.Second {
			t.Errorf("%s: read: got %v after %v", name, err, line.now-began)
		}
		d.Close() // its error does not matter here
	}
}

// A connection whose other end reads nothing is lost. Close does not wait for its buffers to empty.
func TestDeafConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	line, err := DialTCP(l.Addr().String())()
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	word := make([]byte, 1<<16)
	for range 1 << 12 { // 256 MB: no system keeps as much
		if _, err = line.Write(word); err != nil {
			break
		}
	}
	if !errors.Is(err, servo.ErrDisconnected) {
		t.Errorf("got %v, want gone", err)
	}
}

// script is a line whose device answers each write with the next of its replies.
type script struct {
	babbler
	replies [][]byte
	unread  []byte
}

func (s *script) Write(p []byte) (int, error) {
	if len(s.replies) > 0 {
		s.unread, s.replies = append(s.unread, s.replies[0]...), s.replies[1:]
	}
	return len(p), nil
}

func (s *script) Read(p []byte, wait time.Duration) (int, error) {
	if len(s.unread) == 0 {
		s.now += wait
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(p, s.unread)
	s.unread = s.unread[n:]
	return n, nil
}

// A reply about the type that is only its first byte is refused; it has no text and no status.
func TestTypeWithoutText(t *testing.T) {
	line := &script{replies: [][]byte{
		lidarwire.AppendSICK(nil, lidarwire.SICKReplyBit, []byte{lidarwire.SICKModeReply, 0, 0x10}),
		lidarwire.AppendSICK(nil, lidarwire.SICKReplyBit, []byte{byte(lidarwire.SICKType) | lidarwire.SICKReplyBit}),
	}}
	d, err := NewSICK(SICKSettings{Line: func() (servo.Line, error) { return line, nil }, Baud: 38400})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Open(); hal.KindOf(err) != hal.Absent || !strings.Contains(err.Error(), `type: got ""`) {
		t.Errorf("got %v, want another type refused", err)
	}
}
