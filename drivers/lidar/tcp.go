package lidar

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// DialTCP returns an opener of a scanner on the network, "192.168.0.10:10940". Opening blocks for at most a second, a
// write without room in the connection's buffer for 10 ms, and a read without data for at least 1 ms.
func DialTCP(address string) servo.Opener {
	return func() (servo.Line, error) {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			return nil, &hal.Error{Kind: hal.Absent, Bus: address, Op: "dial",
				Err: fmt.Errorf("%w: %w", servo.ErrDisconnected, err), Try: "ping"}
		}
		return &socket{c, time.Now()}, nil
	}
}

// socket is a TCP connection as a line without a rate.
type socket struct {
	conn  net.Conn
	began time.Time
}

// writeTimeout is the timeout for a few bytes; a connection has buffer room for many more. Without room its other end
// has not read for long, and a command may be half sent: the connection counts as lost. A cycle may wait for this time.
const writeTimeout = 10 * time.Millisecond

func (s *socket) Write(p []byte) (int, error) {
	s.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	n, err := s.conn.Write(p)
	if err != nil {
		err = fmt.Errorf("%w: %w", servo.ErrDisconnected, err)
	}
	return n, err
}

func (s *socket) Read(p []byte, timeout time.Duration) (int, error) {
	// Go's connections do not read available bytes after the deadline.
	s.conn.SetReadDeadline(time.Now().Add(max(timeout, time.Millisecond)))
	n, err := s.conn.Read(p)
	if n > 0 {
		return n, nil
	}
	return 0, gone(err)
}

// gone wraps an error that ends the connection in servo.ErrDisconnected; a timeout does not end it.
func gone(err error) error {
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %w", servo.ErrDisconnected, err)
}

func (s *socket) Discard() error {
	var scrap [1024]byte
	for range maxSkims {
		if _, err := s.Read(scrap[:], 0); errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (s *socket) Now() time.Duration { return time.Since(s.began) }
func (s *socket) Baud() int          { return 0 }
func (s *socket) SetBaud(int) error  { return nil }
func (s *socket) Close() error       { return s.conn.Close() }
