package assembly

import (
	"bytes"
	"errors"
	"os"
	"time"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
)

// LineTime is the time of n bytes on line.
func LineTime(line servo.Port, n int) time.Duration {
	return time.Duration(n) * 10 * time.Second / time.Duration(max(line.Baud(), 1))
}

// Listen sends p and returns what comes, and how long after the sending its last byte did. It waits for quiet beyond the
// wire time of p and size bytes, and, once size bytes are there, shortly for more that should not come.
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
	for len(got) <= 4*size { // a line that babbles has been heard enough
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

// Echoes tells whether line's adapter hears what it sends. The packet is one that every servo ignores, since no servo
// can have its id.
func Echoes(line servo.Port) (bool, error) {
	p := dynamixel.AppendInstruction2(nil, &dynamixel.Instruction{ID: 0xFD, Op: dynamixel.Action})
	got, _, err := Listen(line, p, len(p), 5*time.Millisecond)
	return len(got) >= len(p) && bytes.Equal(got[:len(p)], p), err
}
