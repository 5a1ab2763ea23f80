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
