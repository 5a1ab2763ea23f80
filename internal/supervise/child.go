//go:build unix

package supervise

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

const (
	// again is the time between two of them.
	again = 20 * time.Millisecond
	// lateWake is how late this process must have woken up to count as one that did not run.
	lateWake = 10 * time.Millisecond

	// pollTime is the time between two looks at a main process that is late, pendingTime how long one that is ready to
	// run may yet prove that others kept it from running.
	pollTime    = 10 * time.Millisecond
	pendingTime = 20 * time.Millisecond

	maxTelegram = 1 << 16
	firstLine   = 5 // descriptor
	beat, quit  = 'b', 'q'
	starving    = 's' // an answer: this process runs, and the main process is ready to run
)

// Run is the supervisor's process. It returns when the main process has ended in order, or when torque was switched
// off.
func Run() error {
	// Ctrl-C in the main process's terminal is for that process: it stops its robots by their policies, and then
	// reports it.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	timeout, telegrams, err := readTelegrams(os.Stdin)
	if err != nil {
		return fmt.Errorf("supervise: %w", err)
	}
	for fd := 3; fd < firstLine; fd++ {
		if err := syscall.SetNonblock(fd, true); err != nil { // else its reads have no deadline
			return fmt.Errorf("supervise: beats: %w", err)
		}
	}
	beats, answers := os.NewFile(3, "beats"), os.NewFile(4, "answers")
	answer := func(b byte) { syscall.Write(4, []byte{b}) } // a full pipe is a main process that has answers enough
	waited := starvedOf(os.Getppid()).since
	if ordered, err := watch(beats, answer, timeout, time.Now, waited); ordered || err != nil {
		return err
	}
	// A main process that wakes up again finds both closed before the first telegram, and stops.
	answers.Close()
	beats.Close()
	writeTelegrams(telegrams, func(line int, b []byte) error {
		_, err := syscall.Write(firstLine+line, b)
		return err
	})
	return nil
}

// readTelegrams reads the timeout, and of each line its writes.
func readTelegrams(r io.Reader) (timeout time.Duration, telegrams [][][]byte, err error) {
	var micros uint32
	if err := binary.Read(r, binary.LittleEndian, &micros); err != nil {
		return 0, nil, fmt.Errorf("timeout: %w", err)
	}
	if timeout = time.Duration(micros) * time.Microsecond; timeout < MinTimeout || timeout > MaxTimeout {
		return 0, nil, fmt.Errorf("timeout: got %v, want %v..%v", timeout, MinTimeout, MaxTimeout)
	}
	for {
		var head struct{ Length, Piece uint32 }
		if err := binary.Read(r, binary.LittleEndian, &head); err == io.EOF {
			return timeout, telegrams, nil
		} else if err != nil || head.Length == 0 || head.Length > maxTelegram || head.Piece > head.Length {
			return 0, nil, fmt.Errorf("telegrams: got length %d of pieces %d, %v", head.Length, head.Piece, err)
		}
		t := make([]byte, head.Length)
		if _, err := io.ReadFull(r, t); err != nil {
			return 0, nil, fmt.Errorf("telegrams: %w", err)
		}
		telegrams = append(telegrams, slices.Collect(slices.Chunk(t, int(cmp.Or(head.Piece, head.Length)))))
	}
}

// pipe is the reading end of the beats.
type pipe interface {
	io.Reader
	SetReadDeadline(t time.Time) error
}

// watch answers the beats until the main process is gone or silent for timeout; ordered: it has ended in order. Until
// the first beat the main process has moved nothing. A time in which this process did not run either counts as no
// silence, once: beats may have come meanwhile, and a machine that starves both is no hang. Nor does a time in which
// the main process was ready to run and others ran, up to timeout in all; waited measures it, nil = it is not known.
func watch(beats pipe, answer func(byte), timeout time.Duration, now func() time.Time,
	waited func() (waits time.Duration, ready bool)) (ordered bool, err error) {
	var due, next, looked time.Time // of the verdict; of the next look; of the last one
	excused, polls, left := false, 0, time.Duration(0)
	answer(beat)
	for b := make([]byte, 64); ; {
		n, err := beats.Read(b)
		t := now()
		switch {
		case bytes.IndexByte(b[:n], quit) >= 0:
			return true, nil
		case n > 0:
			answer(beat)
			excused, polls, left = false, 0, timeout
			if due, next = t.Add(timeout), t.Add(timeout); waited != nil {
				next = t.Add(timeout / 4)
			}
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return false, nil
		case !excused && t.Sub(next) >= lateWake:
			answer(beat)
			excused = true
			due = t.Add(max(due.Sub(t), min(timeout, t.Sub(next))))
			next = due
		default:
			var waits time.Duration
			ready := false
			if waited != nil {
				waits, ready = waited()
				// the first look is what others are compared with
				if waits = min(waits, left, t.Sub(looked)); polls > 0 && waits > 0 {
					answer(starving)
					due, left = due.Add(waits), left-waits
				}
				polls, looked = polls+1, t
			}
			if !t.Before(due) && (!ready || t.Sub(due) >= pendingTime) {
				return false, nil
			}
			if next = t.Add(pollTime); next.After(due) && t.Before(due) {
				next = due
			}
		}
		if err := beats.SetReadDeadline(next); err != nil {
			return false, fmt.Errorf("supervise: %w", err)
		}
	}
}

// writeTelegrams writes the telegrams of all lines for the time of Repeat.
func writeTelegrams(telegrams [][][]byte, write func(line int, b []byte) error) {
	next := make([]int, len(telegrams)) // the first write of each line that is due
	for end := time.Now().Add(Repeat); time.Now().Before(end); time.Sleep(again) {
		for i, t := range telegrams {
			for range t { // what a full queue does not take is written the next time
				if err := write(i, t[next[i]]); err == syscall.EAGAIN || err == syscall.ENOBUFS {
					break
				}
				next[i] = (next[i] + 1) % len(t)
			}
		}
	}
}
