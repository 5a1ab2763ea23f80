//go:build unix

package supervise

import (
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

// Supervisor is the main process's side.
type Supervisor struct {
	child *exec.Cmd
	beats *os.File // non-blocking
	ended chan struct{}
	once  sync.Once
}

// Start starts the supervisor, whose process is command. Beat begins the supervision.
func Start(command []string, lines []Line) (*Supervisor, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("supervise: %w", err)
	}
	defer read.Close()
	var telegrams []byte
	s := &Supervisor{child: exec.Command(command[0], command[1:]...), beats: write, ended: make(chan struct{})}
	s.child.ExtraFiles = []*os.File{read}
	for _, l := range lines {
		s.child.ExtraFiles = append(s.child.ExtraFiles, l.File)
		telegrams = binary.LittleEndian.AppendUint32(telegrams, uint32(len(l.TorqueOff)))
		telegrams = append(binary.LittleEndian.AppendUint32(telegrams, uint32(l.Piece)), l.TorqueOff...)
	}
	s.child.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal's keys reach it
	in, err := s.child.StdinPipe()
	if err == nil {
		err = s.child.Start()
	}
	if err != nil {
		write.Close()
		return nil, fmt.Errorf("supervise: %w", err)
	}
	_, err = in.Write(telegrams)
	err = errors.Join(err, in.Close())
	go func() {
		s.child.Wait() // its exit says enough
		close(s.ended)
	}()
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("supervise: %w", err)
	}
	return s, nil
}

// ErrEnded reports that the supervisor has ended: it took the torque, or died.
var ErrEnded = errors.New("the supervisor has ended")

// Beat reports that a cycle has passed. It does not block. The error is ErrEnded.
func (s *Supervisor) Beat() error {
	select {
	case <-s.ended:
		return ErrEnded
	default:
	}
	raw, err := s.beats.SyscallConn()
	if err != nil {
		return ErrEnded
	}
	b := [1]byte{beat}
	raw.Write(func(fd uintptr) bool {
		_, err = syscall.Write(int(fd), b[:])
		return true // a full pipe is a supervisor that has beats enough
	})
	if err == syscall.EPIPE {
		return ErrEnded
	}
	return nil
}

// Close ends the supervision in order and waits for the supervisor, for a second at most. Torque stays as it is.
func (s *Supervisor) Close() {
	s.once.Do(func() {
		s.beats.SetWriteDeadline(time.Now().Add(time.Second)) // one that does not read may have a full pipe
		s.beats.Write([]byte{quit})
		s.beats.Close()
		timer := time.NewTimer(time.Second)
		defer timer.Stop()
		select {
		case <-s.ended:
		case <-timer.C:
			s.child.Process.Kill()
			<-s.ended
		}
	})
}
