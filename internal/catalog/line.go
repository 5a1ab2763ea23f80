package catalog

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// UsualBauds returns the usual rates of servos, bit/s, the most likely first: factory settings.
func UsualBauds() []int {
	return []int{57600, 1000000, 115200, 2000000, 3000000, 4000000, 4500000, 9600, 400000, 500000, 250000, 200000,
		1250000, 625000, 38400, 128000, 76800, 19200}
}

// openFilteringEcho opens a line. If its adapter echoes transmitted bytes, it filters the echo, also after every
// reopening.
func openFilteringEcho(open servo.Opener) (servo.Line, servo.Opener, error) {
	line, err := open()
	if err != nil {
		return nil, nil, err
	}
	echo, err := Echoes(line)
	if err != nil {
		return nil, nil, errors.Join(err, line.Close())
	}
	if !echo {
		return line, open, nil
	}
	return &servo.EchoFilter{Line: line}, func() (servo.Line, error) {
		line, err := open()
		if err != nil {
			return nil, err
		}
		return &servo.EchoFilter{Line: line}, nil
	}, nil
}

// LineTime is the time of n bytes on line.
func LineTime(line servo.Port, n int) time.Duration {
	return time.Duration(n) * 10 * time.Second / time.Duration(max(line.Baud(), 1))
}

// Listen sends p and returns the received bytes, and the time from the sending to the last byte. It waits for quiet
// beyond the wire time of p and size bytes and, once size bytes are received, shortly for unexpected further bytes.
func Listen(line servo.Port, p []byte, size int, quiet time.Duration) (got []byte, took time.Duration, err error) {
	if err := line.Discard(); err != nil {
		return nil, 0, err
	}
	start := line.Now()
	if _, err := line.Write(p); err != nil {
		return nil, 0, err
	}
	buf := make([]byte, 512)
	wait := LineTime(line, len(p)+size) + quiet
	for len(got) <= 4*size { // a line that babbles has been received enough
		n, err := line.Read(buf, wait)
		if n > 0 {
			got, took = append(got, buf[:n]...), line.Now()-start
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return got, took, err
		}
		if len(got) >= size {
			wait = time.Millisecond
		}
	}
	return got, took, nil
}

// Echoes reports whether line's adapter echoes transmitted bytes.
func Echoes(line servo.Port) (bool, error) {
	p := servo.Ignored()
	got, _, err := Listen(line, p, len(p), 5*time.Millisecond)
	return len(got) >= len(p) && bytes.Equal(got[:len(p)], p), err
}

// The scheduling delay of a program behind a pseudo-terminal, and the shorter timeout of a scan, in which each silent
// id of 254 costs it.
const (
	TerminalTimeout = 50 * time.Millisecond
	TerminalHurry   = 4 * time.Millisecond
)

// IsTerminal reports whether port is a pseudo terminal, behind which is a program and no adapter.
func IsTerminal(port string) bool {
	device, err := filepath.EvalSymlinks(port)
	return err == nil && strings.HasPrefix(device, "/dev/pts/")
}

// Timed is a line whose adapter may have a latency timer (serial.Line).
type Timed interface {
	LatencyTimer() (d time.Duration, note string)
}

// LatencyOf returns how long the adapter or program behind an open port may delay an answer.
func LatencyOf(port string, line servo.Line) time.Duration {
	if IsTerminal(port) {
		return TerminalTimeout
	}
	if l, ok := line.(Timed); ok {
		d, _ := l.LatencyTimer()
		return d
	}
	return 0
}
