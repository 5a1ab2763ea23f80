//go:build unix

package supervise

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Line is one line and what switches torque off there.
type Line struct {
	File      *os.File // kept by the caller
	TorqueOff []byte
	Piece     int // bytes of one write, as of a CAN frame; 0 = all at once
}

const (
	// AnswerTimeout is the time without an answer after which a supervisor guards nothing. On Linux a time in which it
	// was ready to run, and others ran, does not count, up to as much again.
	AnswerTimeout = 350 * time.Millisecond
	// startTimeout bounds the start of the supervisor, on a busy machine too.
	startTimeout = 30 * time.Second
)

// Supervisor is the main process's side. One goroutine at a time calls Beat and Check.
type Supervisor struct {
	child   *exec.Cmd
	beats   *os.File // non-blocking
	answers *os.File // likewise
	ended   chan struct{}
	once    sync.Once

	timeout time.Duration
	send    syscall.RawConn
	receive syscall.RawConn
	write   func(fd uintptr) bool
	read    func(fd uintptr) bool
	buffer  [64]byte
	failed  bool // of write and read: the other end is closed
	heard   bool // by read: an answer
	starved bool // by read: one that says that this process was ready to run
	now     func() time.Duration
	last    time.Duration // of the last Check; below 0: none
	asked   bool          // a beat is not answered yet
	silent  time.Duration // since then, as far as the main process ran
	// waited measures how long the supervisor was ready to run since the last call, while others ran; excused is how
	// much of silence that was, looked whether it was called in this one. ready: it is so now, which is counted only
	// when it has run.
	waited  func() (waits time.Duration, ready bool)
	excused time.Duration
	looked  bool
	ready   bool
}

// Start starts the supervisor, whose process is command, and waits for its first answer. timeout is the silence that
// counts as a hang. Beat begins the supervision. The end of ctx ends the wait.
func Start(ctx context.Context, command []string, timeout time.Duration, lines []Line) (*Supervisor, error) {
	s := &Supervisor{child: exec.Command(command[0], command[1:]...), ended: make(chan struct{}), timeout: timeout}
	begin := time.Now()
	s.now = func() time.Duration { return time.Since(begin) }
	telegrams := binary.LittleEndian.AppendUint32(nil, uint32(timeout/time.Microsecond))
	for _, l := range lines {
		telegrams = binary.LittleEndian.AppendUint32(telegrams, uint32(len(l.TorqueOff)))
		telegrams = append(binary.LittleEndian.AppendUint32(telegrams, uint32(l.Piece)), l.TorqueOff...)
	}
	if err := s.launch(lines, telegrams); err != nil {
		return nil, fmt.Errorf("supervise: %w", err)
	}
	s.answers.SetReadDeadline(time.Now().Add(startTimeout))
	stop := context.AfterFunc(ctx, func() { s.answers.SetReadDeadline(time.Unix(1, 0)) })
	_, err := s.answers.Read(s.buffer[:1])
	if !stop() {
		err = errors.Join(err, ctx.Err())
	}
	if err != nil {
		s.Kill()
		return nil, fmt.Errorf("supervise: start: no answer: %w", err)
	}
	s.answers.SetReadDeadline(time.Time{})
	s.last, s.waited = -1, starvedOf(s.child.Process.Pid).since
	return s, nil
}

// launch starts the process and sends it the telegrams.
func (s *Supervisor) launch(lines []Line, telegrams []byte) (err error) {
	var theirs [2]*os.File
	defer func() {
		for _, f := range append(theirs[:], s.beats, s.answers) {
			if f != nil && (err != nil || f == theirs[0] || f == theirs[1]) {
				f.Close()
			}
		}
	}()
	if theirs[0], s.beats, err = os.Pipe(); err != nil {
		return err
	}
	if s.answers, theirs[1], err = os.Pipe(); err != nil {
		return err
	}
	s.child.ExtraFiles = theirs[:]
	for _, l := range lines {
		s.child.ExtraFiles = append(s.child.ExtraFiles, l.File)
	}
	s.child.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal's keys reach it
	in, err := s.child.StdinPipe()
	if err != nil {
		return err
	}
	if s.send, err = s.beats.SyscallConn(); err != nil {
		return err
	}
	if s.receive, err = s.answers.SyscallConn(); err != nil {
		return err
	}
	// Made once: a cycle allocates nothing.
	s.write = func(fd uintptr) bool {
		s.buffer[0] = beat
		_, err := syscall.Write(int(fd), s.buffer[:1])
		s.failed = s.failed || err == syscall.EPIPE
		return true // a full pipe is a supervisor that has beats enough
	}
	s.read = func(fd uintptr) bool {
		n, err := syscall.Read(int(fd), s.buffer[:])
		s.failed = s.failed || n == 0 && err == nil
		s.heard, s.starved = n > 0, n > 0 && bytes.IndexByte(s.buffer[:n], starving) >= 0
		return true
	}
	if err := s.child.Start(); err != nil {
		return err
	}
	go func() {
		s.child.Wait() // its exit says enough
		close(s.ended)
	}()
	if _, err = in.Write(telegrams); err != nil {
		s.child.Process.Kill()
	}
	return errors.Join(err, in.Close())
}

// The ways in which a supervision ends by itself.
var (
	ErrEnded  = errors.New("the supervisor has ended")       // it took the torque, or died
	ErrSilent = errors.New("the supervisor does not answer") // for AnswerTimeout
	ErrFroze  = errors.New("this process did not run")       // for the timeout: the supervisor may be taking the torque
)

// Beat reports that a cycle has passed. It does not block. The error is one of those of Check.
func (s *Supervisor) Beat() error {
	err := s.Check()
	s.send.Write(s.write)
	s.asked = true
	if s.failed {
		return ErrEnded
	}
	return err
}

// Check reports the end of the supervision: ErrEnded, ErrFroze or ErrSilent. Call it before a cycle commands anything:
// this process may have been stopped since the last cycle. It does not block.
func (s *Supervisor) Check() error {
	s.heard, s.starved = false, false
	s.failed = s.receive.Read(s.read) != nil || s.failed
	now := s.now()
	passed := now - s.last
	if s.last < 0 { // the first
		passed = 0
	}
	s.last = now
	froze := passed >= s.timeout && !s.starved // a supervisor that was stopped too said nothing meanwhile
	switch {
	case s.heard:
		s.asked, s.silent, s.excused, s.looked, s.ready = false, 0, 0, false, false
	case s.asked && !froze: // a time in which this process did not run is no silence of the other
		if s.silent += passed; s.silent >= AnswerTimeout/4 {
			waits, ready := s.waited()
			s.ready = ready
			if waits = min(waits, AnswerTimeout-s.excused, s.silent); s.looked {
				s.silent, s.excused = s.silent-waits, s.excused+waits
			}
			s.looked = true
		}
	}
	select {
	case <-s.ended:
		return ErrEnded
	default:
	}
	switch {
	case s.failed:
		return ErrEnded
	case froze:
		return ErrFroze
	case s.silent >= AnswerTimeout && !(s.ready && s.silent+s.excused < 2*AnswerTimeout):
		return ErrSilent
	}
	return nil
}

// Kill ends a supervisor that does not answer, without its order.
func (s *Supervisor) Kill() {
	s.once.Do(func() {
		s.child.Process.Kill()
		s.end()
	})
}

// Close ends the supervision in order and waits for the supervisor, for a second at most. Torque stays as it is.
func (s *Supervisor) Close() {
	s.once.Do(func() {
		s.beats.SetWriteDeadline(time.Now().Add(time.Second)) // one that does not read may have a full pipe
		s.beats.Write([]byte{quit})
		timer := time.NewTimer(time.Second)
		defer timer.Stop()
		select {
		case <-s.ended:
		case <-timer.C:
			s.child.Process.Kill()
		}
		s.end()
	})
}

func (s *Supervisor) end() {
	<-s.ended
	s.beats.Close()
	s.answers.Close()
}
