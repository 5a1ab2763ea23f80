package supervise

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// TestSafety18SupervisorFrames: a line that takes a frame at a time and queues ten, as a CAN interface does, gets all
// of a long telegram, in order.
func TestSafety18SupervisorFrames(t *testing.T) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	line, bus := os.NewFile(uintptr(pair[0]), "line"), os.NewFile(uintptr(pair[1]), "bus")
	defer line.Close()
	defer bus.Close()
	const frames, size = 25, 16
	telegram := make([]byte, frames*size)
	for i := range telegram {
		telegram[i] = byte(i / size)
	}
	t.Setenv(role, "supervisor")
	s, err := Start(t.Context(), []string{os.Args[0]}, MinTimeout,
		[]Line{{File: line, TorqueOff: telegram, Piece: size}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	line.Close() // the supervisor has its own
	if err := s.Beat(); err != nil {
		t.Fatal(err)
	}
	bus.SetReadDeadline(time.Now().Add(time.Minute))
	b := make([]byte, 2*size)
	for k := range 3 * frames {
		n, err := bus.Read(b)
		if err != nil || n != size || b[0] != byte(k%frames) {
			t.Fatalf("frame %d: got % x, %v, want %d bytes of %d", k, b[:n], err, size, k%frames)
		}
		if k%5 == 0 { // a slow bus
			<-time.After(time.Millisecond)
		}
	}
}

// TestSafety18EveryLine: the supervisor of several lines writes each telegram to its own line.
func TestSafety18EveryLine(t *testing.T) {
	var lines []Line
	var buses []*os.File
	for i := range 3 {
		pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		line, bus := os.NewFile(uintptr(pair[0]), "line"), os.NewFile(uintptr(pair[1]), "bus")
		defer line.Close()
		defer bus.Close()
		lines, buses = append(lines, Line{File: line, TorqueOff: []byte{byte(i), 0xff}}), append(buses, bus)
	}
	t.Setenv(role, "supervisor")
	s, err := Start(t.Context(), []string{os.Args[0]}, MinTimeout, lines)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Beat(); err != nil {
		t.Fatal(err)
	}
	for i, bus := range buses {
		bus.SetReadDeadline(time.Now().Add(time.Minute))
		for range 3 {
			b := make([]byte, 8)
			if n, err := bus.Read(b); err != nil || n != 2 || b[0] != byte(i) {
				t.Fatalf("line %d: got % x, %v, want its own telegram", i, b[:n], err)
			}
		}
	}
}
