package work

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"
)

// KeepProcess runs a worker of the queue of o in a process of this program, and another when it dies, until ctx ends.
// It logs as worker number.
func KeepProcess(ctx context.Context, o Options, number int, log *slog.Logger) {
	const between, timeout = 200 * time.Millisecond, 3 * time.Second
	program, err := os.Executable()
	for err == nil && ctx.Err() == nil {
		c := exec.CommandContext(ctx, program, "--queue", o.URL, "--name", o.Name, "--until-eof")
		c.Env = append(os.Environ(), "HALYARD_TOKEN="+o.Token) // not in the list of processes
		c.Stderr, c.WaitDelay = os.Stderr, timeout
		var in io.WriteCloser
		if in, err = c.StdinPipe(); err != nil { // it ends with this process, however this one ends
			break
		}
		c.Cancel = in.Close
		if err = c.Start(); err != nil {
			break
		}
		died := c.Wait()
		if ctx.Err() != nil {
			return
		}
		log.Warn("worker process ended; another one starts", "worker", number, "cause", died)
		select {
		case <-time.After(between):
		case <-ctx.Done():
		}
	}
	if err != nil {
		log.Error("worker process", "worker", number, "fault", err)
	}
}

// Build identifies this program to workers: results of another build may differ.
func Build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	v := map[string]string{}
	for _, s := range info.Settings {
		v[s.Key] = s.Value
	}
	return strings.Join([]string{info.Main.Version, v["vcs.revision"], v["vcs.modified"]}, " ")
}
