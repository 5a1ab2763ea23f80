package serial

import (
	"errors"
	"io"
	"time"

	tarm "github.com/tarm/goserial"
	bugst "go.bug.st/serial"
)

// port is the library's open port. Read is called only when bytes are available.
type port interface {
	io.Reader
	io.Closer
}

// reopen opens the port at baud, or re-tunes the open one where the library can.
func (l *Line) reopen(baud int) error {
	if l.opener == Tarm {
		return l.reopenTarm(baud)
	}
	mode := bugst.Mode{BaudRate: baud} // 8N1; no InitialStatusBits: a pty has no modem lines
	if l.even {
		mode.Parity = bugst.EvenParity
	}
	if p, ok := l.port.(bugst.Port); ok {
		return p.SetMode(&mode)
	}
	p, err := bugst.Open(l.device, &mode)
	if e := (*bugst.PortError)(nil); errors.As(err, &e) && e.Code() == bugst.PortBusy {
		return errHeld // its errors do not unwrap to the system's
	}
	if err != nil {
		return err
	}
	l.port = p
	return p.SetReadTimeout(0) // the waiting is done before the reading
}

// reopenTarm sets the rate with goserial, which cannot change it on an open port: it closes and opens.
func (l *Line) reopenTarm(baud int) error {
	// With cgo goserial keeps the parity, stop bits and flow control of the port's last user.
	if err := l.ctl.plain(); err != nil {
		return err
	}
	p, err := tarm.OpenPort(&tarm.Config{Name: l.device, Baud: baud, ReadTimeout: 100 * time.Millisecond})
	if err != nil {
		return err
	}
	if l.port != nil {
		l.port.Close()
	}
	l.port = p
	return nil
}
