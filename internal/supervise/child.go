//go:build unix

package supervise

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

const (
	// Timeout is how long the supervisor waits for the next beat. With the time of its telegrams torque is off within 200 ms.
	Timeout = 150 * time.Millisecond
	// Insist is how long it repeats the telegrams: one may meet what the main process was sending.
	Insist = time.Second
	// again is the time between two of them.
	again = 20 * time.Millisecond

	maxTelegram = 1 << 16
	firstLine   = 4 // descriptor
	beat, quit  = 'b', 'q'
)

// Run is the supervisor's process. It returns when the main process has ended in order, or when torque was switched off.
func Run() error {
	// Ctrl-C in the main process's terminal is for that process: it stops its robots by their policies, and then reports it.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	var telegrams [][][]byte // of each line, its writes
	for {
		var head struct{ Length, Piece uint32 }
		if err := binary.Read(os.Stdin, binary.LittleEndian, &head); err == io.EOF {
			break
		} else if err != nil || head.Length == 0 || head.Length > maxTelegram || head.Piece > head.Length {
			return fmt.Errorf("supervise: telegrams: got length %d of pieces %d, %v", head.Length, head.Piece, err)
		}
		t := make([]byte, head.Length)
		if _, err := io.ReadFull(os.Stdin, t); err != nil {
			return fmt.Errorf("supervise: telegrams: %w", err)
		}
		head.Piece = cmp.Or(head.Piece, head.Length)
		telegrams = append(telegrams, slices.Collect(slices.Chunk(t, int(head.Piece))))
	}
	if err := syscall.SetNonblock(3, true); err != nil { // else its reads have no deadline
		return fmt.Errorf("supervise: beats: %w", err)
	}
	beats := os.NewFile(3, "beats")
	// Until the first beat the main process has moved nothing.
	for b := make([]byte, 64); ; {
		n, err := beats.Read(b)
		if n > 0 && b[n-1] == quit {
			return nil
		}
		if err != nil {
			break // it is gone, or silent
		}
		if err := beats.SetReadDeadline(time.Now().Add(Timeout)); err != nil {
			return fmt.Errorf("supervise: %w", err)
		}
	}
	beats.Close()                       // a main process that wakes up again finds that it is supervised no more, and stops
	next := make([]int, len(telegrams)) // the first write of each line that is due
	for end := time.Now().Add(Insist); time.Now().Before(end); time.Sleep(again) {
		for i, t := range telegrams {
			for range t { // what a full queue does not take is written the next time
				if _, err := syscall.Write(firstLine+i, t[next[i]]); err == syscall.EAGAIN || err == syscall.ENOBUFS {
					break
				}
				next[i] = (next[i] + 1) % len(t)
			}
		}
	}
	return nil
}
