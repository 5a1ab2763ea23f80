package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the tests' binary be the command itself, which starts itself as its supervisor.
func TestMain(m *testing.M) {
	if os.Getenv("HALYARD_TEST_COMMAND") != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestSafety18KilledServe: a real arm whose process is killed has no torque any more; the emulated servos are in another process.
func TestSafety18KilledServe(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"kill -9": syscall.SIGKILL, "SIGSTOP": syscall.SIGSTOP} {
		t.Run(name, func(t *testing.T) {
			port, _ := startEmulate(t, "xm430-arm")
			t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
			serve := exec.Command(os.Args[0], "serve", realConfig(t, port), "--body", "real", "--set", "clock.period=20ms", "--set", "buses.arm.latency=20ms",
				"--set", "agents[0].guard.armed=true", "--listen", "osp=127.0.0.1:0", "--listen", "odcp=127.0.0.1:0", "-o", "jsonl")
			serve.Env = append(os.Environ(), "HALYARD_TEST_COMMAND=1")
			out, err := serve.StdoutPipe()
			if err == nil {
				err = serve.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { serve.Process.Kill(); serve.Wait() }()
			line, err := bufio.NewReader(out).ReadString('\n')
			r := &running{stderr: &strings.Builder{}}
			if err != nil || json.Unmarshal([]byte(line), &r.ready) != nil {
				t.Fatalf("serve: got %q, %v", line, err)
			}
			if code, _, errText := runApp(t, "play", "wave", "--speed", "4", "--address", r.address(t, "odcp"), "-o", "jsonl"); code != 0 && !strings.Contains(errText, "error") {
				t.Fatalf("play: exit %d: %s", code, errText)
			}
			serve.Process.Signal(signal)
			<-time.After(400 * time.Millisecond)
			serve.Process.Kill() // which gives the port back; what was stopped has lost its torque before
			serve.Wait()
			var text string
			for range 40 { // the supervisor holds the port for a second
				var code int
				if code, text, _ = runApp(t, "registers", "read", port, "--id", "1", "torque_enable", "-o", "jsonl"); code == 0 {
					break
				}
				<-time.After(100 * time.Millisecond)
			}
			if !strings.Contains(text, `"raw":0`) {
				t.Errorf("torque_enable of servo 1: got %s, want 0", text)
			}
		})
	}
}
