package servo

import (
	"os"
	"strings"
	"testing"
	"time"
)

// fileLine is a line with a descriptor.
type fileLine struct {
	echoing
	written []byte
	asked   int // its clock
}

func (l *fileLine) Now() time.Duration {
	l.asked++
	return l.echoing.Now()
}

func (l *fileLine) Write(p []byte) (int, error) {
	l.written = append(l.written, p...)
	return len(p), nil
}
func (l *fileLine) File() (*os.File, error) { return os.Open(os.DevNull) }

// skipsLost commands no lost servo, as those that acknowledge each command.
type skipsLost struct{ *stub }

// Flush sends, as those of vendors do.
func (b skipsLost) Flush() error {
	b.r.x.Out = append(b.r.x.Out, 1)
	return b.r.x.Write()
}

func (b skipsLost) StageTorqueOff(i int) {
	if !b.r.Devices[i].Lost {
		b.stub.StageTorqueOff(i)
	}
}

// TestSafety18Telegram: a supervisor gets the torque-off packets for every servo, a lost one too, and none of them is
// sent now.
func TestSafety18Telegram(t *testing.T) {
	b := newStub(t)
	if list, err := b.r.TorqueOffTelegrams(); list != nil || err != nil {
		t.Errorf("a line without a descriptor: got %v, %v", list, err)
	}
	line := &fileLine{}
	b.r.line, b.r.x.Port = line, line
	b.staged, b.r.Devices[1].Lost = b.staged[:0], true
	b.r.protocol = skipsLost{b}
	list, err := b.r.TorqueOffTelegrams()
	if err != nil || len(list) != 1 || list[0].Piece != 0 {
		t.Fatalf("got %v, %v", list, err)
	}
	list[0].File.Close()
	if got := strings.Join(b.staged, " "); got != "off0 off1" || len(line.written) > 0 || line.asked > 0 ||
		string(list[0].Bytes) != "\x01" || b.r.x.Port != Port(line) ||
		!b.r.Devices[1].Lost {
		t.Errorf("got %q, % X, %d bytes sent, clock read %d times, port %T, lost %v", got, list[0].Bytes,
			len(line.written),
			line.asked, b.r.x.Port, b.r.Devices[1].Lost)
	}
}
