package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// maxLine bounds a line that a client of ServeLines sends, bytes.
const maxLine = 4096

// ServeLines listens on a Unix socket at path, whose folder the caller has claimed: each connection sends one line and
// receives the answer as JSON. close ends it, and waits for pending answers.
func ServeLines(path string, answer func(line string) any) (close func() error, err error) {
	os.Remove(path) // the socket of a dead process
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Busy, Op: "listen", Err: err}
	}
	return serveLines(l, answer), nil
}

func serveLines(l net.Listener, answer func(line string) any) (close func() error) {
	var sessions sync.WaitGroup
	in := protocols.Bound(l, protocols.Limits{Connections: maxOrders})
	sessions.Go(func() {
		for {
			conn, err := in.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil { // such as no descriptor left
				time.Sleep(acceptPause)
				continue
			}
			sessions.Go(func() {
				defer conn.Close()
				conn.SetDeadline(time.Now().Add(ControlTimeout))
				line, err := bufio.NewReader(io.LimitReader(conn, maxLine)).ReadString('\n')
				if err == nil && protocols.Recognize(conn) {
					json.NewEncoder(conn).Encode(answer(line[:len(line)-1]))
				}
			})
		}
	})
	return func() error {
		err := in.Close()
		sessions.Wait()
		return err
	}
}

// AskLine sends a line to the socket at path and decodes the answer.
func AskLine(ctx context.Context, path, line string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, ControlTimeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return &hal.Error{Kind: hal.Absent, Op: "connect", Err: err}
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(ControlTimeout))
	fmt.Fprintln(conn, line)
	if err := json.NewDecoder(conn).Decode(answer); err != nil {
		return &hal.Error{Kind: hal.Timeout, Op: "connect", Err: fmt.Errorf("no answer: %w", err)}
	}
	return nil
}
