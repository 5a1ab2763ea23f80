package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Send sends an order to the rig called name in this user's folder; without a name to the only one that runs.
func Send(ctx context.Context, name string, o Order) (*Answer, error) {
	name, err := theRig(name, o)
	if err != nil {
		return nil, err
	}
	return sendTo(ctx, ControlSocket(name), name, o)
}

// Runs reports whether a rig called name runs in this user's folder.
func Runs(name string) bool { return slices.Contains(runningRigs(Folder()), name) }

// Running is the name of the only rig that runs in this user's folder, "" where none does. Several are an error.
func Running() (string, error) {
	if len(runningRigs(Folder())) == 0 {
		return "", nil
	}
	return theRig("", OrderOperate)
}

// theRig is name, or without one the only rig that runs in this user's folder.
func theRig(name string, o Order) (string, error) {
	if name != "" {
		return name, nil
	}
	running := runningRigs(Folder())
	switch len(running) {
	case 0:
		return "", noRig(o)
	case 1:
		return running[0], nil
	}
	return "", &hal.Error{Kind: hal.Invalid, Op: string(o),
		Err: fmt.Errorf("%d rigs are running, name one: %s", len(running), strings.Join(running, ", ")),
		Try: fmt.Sprintf("halyard %s %s", map[bool]Order{true: "move", false: o}[o == OrderOperate], running[0])}
}

// noRig is the error of an order without a name where no rig runs in this user's folder: it names the folder, and the
// rigs of the user's other folders, which a shell with another environment has.
func noRig(o Order) error {
	e := &hal.Error{Kind: hal.Absent, Op: string(o), Err: fmt.Errorf("no rig is running in %s", Folder()),
		Try: "halyard serve"}
	for _, dir := range Folders() {
		if names := runningRigs(dir); dir != Folder() && len(names) > 0 {
			e.Err, e.Try = fmt.Errorf("%w; running in %s: %s", e.Err, dir, strings.Join(names, ", ")),
				"halyard estop --all"
		}
	}
	return e
}

// sendTo sends an order to the rig called name that listens at path.
func sendTo(ctx context.Context, path, name string, o Order) (*Answer, error) {
	conn, err := dial(ctx, path, name, o)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return ask(conn, bufio.NewReader(conn), o)
}

func dial(ctx context.Context, path, name string, o Order) (*net.UnixConn, error) {
	if err := CheckFolder(filepath.Dir(path)); hal.KindOf(err) == hal.Unsafe {
		return nil, err // another user's folder may have another user's socket
	}
	var d net.Dialer
	ctx, cancel := context.WithTimeout(ctx, ControlTimeout)
	defer cancel()
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Absent, Op: string(o), Err: fmt.Errorf("no rig called %q is running", name),
			Try: "halyard serve"}
	}
	return conn.(*net.UnixConn), nil
}

// ask sends o and reads the line that answers it.
func ask(conn net.Conn, in *bufio.Reader, o Order) (*Answer, error) {
	conn.SetDeadline(time.Now().Add(ControlTimeout))
	fmt.Fprintln(conn, o)
	var ans Answer
	line, err := readLine(in, 1<<20)
	if err == nil {
		err = json.Unmarshal(line, &ans)
	}
	if err != nil {
		return nil, &hal.Error{Kind: hal.Timeout, Op: string(o), Err: fmt.Errorf("no answer: %w: cut the power", err)}
	}
	if ans.Error != "" {
		return &ans, &hal.Error{Kind: ans.Kind, Err: errors.New(ans.Error)}
	}
	return &ans, nil
}

// readLine reads a line of at most n bytes.
func readLine(in *bufio.Reader, n int) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > n {
			return nil, fmt.Errorf("got more than %d bytes", n)
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// Record records the rig called name, or the only running one, into w until ctx or the rig ends.
func Record(ctx context.Context, name string, w io.Writer) error {
	name, err := theRig(name, OrderRecord)
	if err != nil {
		return err
	}
	conn, err := dial(ctx, ControlSocket(name), name, OrderRecord)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 1<<16)
	if _, err := ask(conn, in, OrderRecord); err != nil {
		return err
	}
	conn.SetDeadline(time.Time{})
	defer context.AfterFunc(ctx, func() { // the rig ends the file when it receives no more
		conn.CloseWrite()
		conn.SetReadDeadline(time.Now().Add(ControlTimeout))
	})()
	_, err = io.Copy(w, in)
	return err
}

// StopAll sends the emergency stop to every running rig in folders, concurrently. It returns each answer, with the
// rig's name, and an error for each rig that did not answer.
func StopAll(ctx context.Context, folders []string) (answers []*Answer, err error) {
	type rig struct{ dir, name string }
	var rigs []rig
	for _, dir := range folders {
		for _, name := range runningRigs(dir) {
			rigs = append(rigs, rig{dir, name})
		}
	}
	if len(rigs) == 0 {
		return nil, noRig(OrderStop)
	}
	all, errs := make([]*Answer, len(rigs)), make([]error, len(rigs))
	var waiting sync.WaitGroup
	for i, r := range rigs {
		waiting.Go(func() {
			all[i], errs[i] = sendTo(ctx, filepath.Join(r.dir, r.name+".sock"), r.name, OrderStop)
			if errs[i] != nil {
				errs[i] = fmt.Errorf("%s: %w", r.name, errs[i])
			}
		})
	}
	waiting.Wait()
	for _, a := range all {
		if a != nil {
			answers = append(answers, a)
		}
	}
	return answers, errors.Join(errs...)
}

// runningRigs are the names of the rigs that run in dir.
func runningRigs(dir string) (names []string) {
	all, _ := filepath.Glob(filepath.Join(dir, "*.sock"))
	for _, path := range all {
		if c, err := net.DialTimeout("unix", path, ControlTimeout); err == nil {
			c.Close()
			names = append(names, strings.TrimSuffix(filepath.Base(path), ".sock"))
		}
	}
	return names
}
