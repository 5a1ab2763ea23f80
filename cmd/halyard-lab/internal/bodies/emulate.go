package bodies

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"

	"github.com/halyard-robotics/halyard"
)

// Emulate serves the servos of the config at path on terminals until ctx ends, and calls ready with the first one.
func Emulate(ctx context.Context, path string, ready func(port string) error) error {
	cfg, err := halyard.Load(path)
	if err != nil {
		return err
	}
	e, err := halyard.Emulate(cfg)
	if err != nil {
		return err
	}
	defer e.Close()
	return e.Serve(ctx, "", func(p []halyard.Port) error { return ready(p[0].Path) })
}

// Emulator starts the servos of the config at path, and returns their terminal and what ends them.
type Emulator func(ctx context.Context, path string) (port string, end func() error, err error)

// Here is the Emulator that serves them in this process.
func Here(ctx context.Context, path string) (port string, end func() error, err error) {
	ctx, cancel := context.WithCancel(ctx)
	ports, served := make(chan string, 1), make(chan error, 1)
	var running sync.WaitGroup
	running.Go(func() { served <- Emulate(ctx, path, func(p string) error { ports <- p; return nil }) })
	end = func() error { cancel(); running.Wait(); return nil }
	select {
	case port = <-ports:
		return port, end, nil
	case err = <-served:
		return "", nil, errors.Join(err, end())
	}
}

// Elsewhere is the Emulator that starts a process of command, the path of the config behind it; it must print the
// terminal, and end when its standard input does.
func Elsewhere(command ...string) Emulator {
	return func(ctx context.Context, path string) (port string, end func() error, err error) {
		c := exec.CommandContext(ctx, command[0], append(command[1:], path)...)
		in, err := c.StdinPipe()
		if err != nil {
			return "", nil, err
		}
		out, err := c.StdoutPipe()
		if err != nil {
			return "", nil, err
		}
		if err := c.Start(); err != nil {
			return "", nil, err
		}
		end = func() error { in.Close(); return c.Wait() }
		line, err := bufio.NewReader(out).ReadString('\n')
		if port = strings.TrimSpace(line); port == "" {
			return "", nil, errors.Join(fmt.Errorf("emulate %s: got no terminal: %w", path, err), end())
		}
		return port, end, nil
	}
}

// ServeElsewhere is the other side of Elsewhere: it prints the terminal to out, and ends with in.
func ServeElsewhere(ctx context.Context, path string, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with the process
		io.Copy(io.Discard, in)
		cancel()
	}()
	return Emulate(ctx, path, func(port string) error {
		_, err := fmt.Fprintln(out, port)
		return err
	})
}
