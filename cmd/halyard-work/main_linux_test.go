package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/work"
)

func TestWorkArguments(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, bad := file("good.jsonl", `{"key":"a","seed":1,"steps":1}`),
		file("bad.jsonl", "{\"key\":\"a\",\"seed\":1,\"steps\":1}\n\n{\"key\":\"b\",\"seed\":0,\"steps\":1}\n")
	for _, c := range []struct {
		args  string
		code  int
		fault string
	}{
		{"pendulum", 2, "got CONFIG without --rollouts"},
		{"pendulum so101", 2, "got 2 arguments"},
		{"--rollouts " + good, 2, "got no CONFIG"},
		{"--set clock.period=20ms", 2, "got no CONFIG"},
		{"pendulum --workers -1 --rollouts " + good, 2, "--workers: got -1, want 0..1024"},
		{"pendulum --workers 0 --rollouts " + good, 2, "--workers 0 without --queue"},
		{"--queue nats://127.0.0.1:1 --listen 127.0.0.1:0", 2, "--queue with --listen"},
		{"--queue nats://127.0.0.1:1 --workers 2", 2, "one worker"},
		{"--queue nats://127.0.0.1:1", 3, "halyard-work"},
		{"--listen 0.0.0.0:0", 7, "--token"},
		{"--listen nowhere", 2, "--listen 127.0.0.1:4222"},
		{"pendulum --rollouts " + filepath.Join(dir, "none"), 2, "no such file"},
		{"pendulum --rollouts " + bad, 2, "bad.jsonl:3: rollout: b: seed: got 0"},
		{"no-such-config --rollouts " + good, 2, "no-such-config"},
	} {
		code, out, errText := runApp(t, strings.Fields(c.args)...)
		if code != c.code || out != "" || !strings.Contains(errText, c.fault) {
			t.Errorf("work %s: got exit %d, %q, %q; want %d and %q", c.args, code, out, errText, c.code, c.fault)
		}
	}
}

// process starts this test's binary as the command itself, and returns its output.
func process(t *testing.T, args ...string) (*exec.Cmd, io.Reader) {
	t.Helper()
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), "HALYARD_TEST_COMMAND=1")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return c, out
}

// A thousand rollouts by three workers, of which one is killed for every hundred results: each result is there once,
// the same bit for bit as of a single process.
func TestWorkersAreKilled(t *testing.T) {
	const between = 100
	rollouts := haltest.Sample(400, 1000)
	var text strings.Builder
	for i := range rollouts {
		fmt.Fprintf(&text, `{"key":"r%d","seed":%d,"steps":%d,"every":20,"actions":[[%g]]}`+"\n", i, i+1, 40+i%30,
			0.01*float64(i%60-30))
	}
	file := filepath.Join(t.TempDir(), "todo.jsonl")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HALYARD_TEST_COMMAND", "1") // of its worker
	code, single, errText := runApp(t, "pendulum", "--rollouts", file, "--workers", "1", "-o", "jsonl")
	if code != 0 || strings.Count(single, "\n") != rollouts {
		t.Fatalf("a single process: got exit %d, %d lines, %s", code, strings.Count(single, "\n"), errText)
	}

	queue, out := process(t, "--listen", "127.0.0.1:0", "--store", t.TempDir(), "--workers", "0", "-o", "jsonl")
	var ready queueReady
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || json.Unmarshal([]byte(line), &ready) != nil || ready.Event != "ready" {
		t.Fatalf("got %q, %v, want a ready queue", line, err)
	}
	worker := func() *exec.Cmd { c, _ := process(t, "--queue", ready.Queue, "-q"); return c }
	crew := []*exec.Cmd{worker(), worker(), worker()}
	submit, results := process(t, "pendulum", "--rollouts", file, "--queue", ready.Queue, "-o", "jsonl")
	var all strings.Builder
	lines := bufio.NewReader(results)
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		all.WriteString(line)
		if err != nil {
			break
		}
		if n%between == 0 && n < rollouts {
			k := n / between % len(crew)
			if err := crew[k].Process.Kill(); err != nil {
				t.Error(err)
			}
			crew[k].Wait()
			crew[k] = worker()
		}
	}
	if err := submit.Wait(); err != nil {
		t.Errorf("submit: %v", err)
	}
	if all.String() != single {
		a, b := strings.Split(all.String(), "\n"), strings.Split(single, "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("line %d: got %s, want %s as of a single process", i+1, a[i], b[i])
			}
		}
		t.Fatalf("got %d lines, want %d", len(a), len(b))
	}
	// The results do not depend on what a worker did before: those of rigs that nothing was run on are the same.
	for _, line := range strings.SplitAfter(single, "\n")[:5] {
		var r work.Result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		one := filepath.Join(t.TempDir(), "one.jsonl")
		if err := os.WriteFile(one, []byte(strings.SplitAfter(text.String(), "\n")[r.Seed-1]), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, alone, errText := runApp(t, "pendulum", "--rollouts", one, "--workers", "1", "-o",
			"jsonl"); alone != line {
			t.Errorf("%s: got %s%s, want %s", r.Key, alone, errText, line)
		}
	}
	queue.Process.Signal(os.Interrupt)
	if queue.Wait(); queue.ProcessState.ExitCode() != 130 {
		t.Errorf("queue: got %v, want exit 130", queue.ProcessState)
	}
	for _, c := range crew {
		c.Process.Signal(os.Interrupt)
		if c.Wait(); c.ProcessState.ExitCode() != 130 {
			t.Errorf("worker: got %v, want exit 130", c.ProcessState)
		}
	}
}

// A worker whose rig is emulated or a humanoid gives the same results as another.
func TestWorkTable(t *testing.T) {
	t.Setenv("HALYARD_TEST_COMMAND", "1")
	file := filepath.Join(t.TempDir(), "todo.jsonl")
	text := `{"key":"first","seed":1,"steps":30,"observe":["elbow_flex/position"],"act":["elbow_flex/position"],"actions":[[0.2]]}` + "\n" +
		`{"key":"bad","seed":1,"steps":30,"observe":["elbow"]}` + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errText := runApp(t, "so101", "--body", "emulated", "--rollouts", file)
	if code != 8 || !strings.Contains(out, "LAST OBSERVATIONS") || !strings.Contains(out, "first  1     30     31") ||
		!strings.Contains(errText, `1 of 2 rollouts ended with an error, first bad: batch: observations: got "elbow"`) {
		t.Errorf("got exit %d\n%s%s", code, out, errText)
	}
}
