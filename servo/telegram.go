package servo

import (
	"os"
	"slices"
	"time"
)

// Filed is a Line with a descriptor that another process can hold too.
type Filed interface {
	// File returns a duplicate of the line's descriptor, which the caller closes.
	File() (*os.File, error)
}

// TorqueOffTelegram returns the bytes that switch off the torque of every servo, for a process that supervises this one, and
// the line's descriptor. The file is nil where the line is lost or has none. It is called between two cycles.
func (r *GenericChain) TorqueOffTelegram() (line *os.File, telegram []byte, err error) {
	r.cut.mu.Lock()
	defer r.cut.mu.Unlock()
	l := r.line
	if e, ok := l.(*EchoFilter); ok {
		l = e.Line
	}
	f, ok := l.(Filed)
	if !ok {
		return nil, nil, nil
	}
	tape := &tape{Port: r.x.Port}
	r.x.Port = tape
	r.stageOff() // no answer comes, and none is missed
	r.x.Port = tape.Port
	if line, err = f.File(); err != nil {
		return nil, nil, err
	}
	return line, tape.bytes, nil
}

// tape keeps what is written and answers nothing.
type tape struct {
	Port
	bytes []byte
}

func (t *tape) Write(p []byte) (int, error) {
	t.bytes = slices.Concat(t.bytes, p)
	return len(p), nil
}

func (t *tape) Read([]byte, time.Duration) (int, error) { return 0, os.ErrDeadlineExceeded }
func (t *tape) Discard() error                          { return nil }
