package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestTokenIsSecret: the token opens the dashboard, however it is given, and stands in no list of processes, log or
// recording.
func TestTokenIsSecret(t *testing.T) {
	const secret = "opensesame"
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		name string
		args []string
		env  string
	}{
		{"argument", []string{"--token", secret}, ""},
		{"joined", []string{"--token=" + secret}, "HALYARD_TOKEN=another"},
		{"file", []string{"--token-file", file}, ""}, {"environment", nil, "HALYARD_TOKEN=" + secret},
	} {
		t.Run(k.name, func(t *testing.T) {
			recording := filepath.Join(t.TempDir(), "run.mcap")
			args := append([]string{"serve", "pendulum", "--listen", "osp=127.0.0.1:0", "--listen", "odcp=127.0.0.1:0",
				"--set", "name=secret-" + k.name, "--set", "record.file=" + recording,
				"--dashboard", "127.0.0.1:0", "-o", "jsonl"}, k.args...)
			serve := exec.Command(os.Args[0], args...)
			serve.Env = append(os.Environ(), "HALYARD_TEST_COMMAND=1", k.env)
			var stderr bytes.Buffer
			serve.Stderr = &stderr
			out, err := serve.StdoutPipe()
			if err == nil {
				err = serve.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			var r ready
			if err != nil || json.Unmarshal([]byte(line), &r) != nil {
				serve.Process.Kill()
				serve.Wait()
				t.Fatalf("got %q, %v: %s", line, err, &stderr)
			}
			title, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(serve.Process.Pid), "cmdline"))
			if err != nil || bytes.Contains(title, []byte(secret)) || !bytes.Contains(title, []byte("pendulum")) {
				t.Errorf("list of processes: got %q, %v, want no token", title, err)
			}
			q, _ := http.NewRequest("POST", r.Dashboard+"stop", nil)
			q.Header.Set("Authorization", "Bearer "+secret)
			if answer, err := http.DefaultClient.Do(q); err != nil || answer.StatusCode != http.StatusOK {
				t.Errorf("a stop with the token: got %v, %v", answer, err)
			}
			serve.Process.Signal(os.Interrupt)
			serve.Wait()
			written, err := os.ReadFile(recording)
			if err != nil || bytes.Contains(written, []byte(secret)) || strings.Contains(stderr.String()+line, secret) {
				t.Errorf("recording %v, %v; log %s: want no token", bytes.Contains(written, []byte(secret)), err,
					&stderr)
			}
			if warned := strings.Contains(stderr.String(), "--token-file"); warned != (len(k.args) > 0 &&
				k.name != "file") {
				t.Errorf("warned %v: %s", warned, &stderr)
			}
		})
	}
}

// TestTokenFaults: a token file that has no token, and two tokens.
func TestTokenFaults(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	os.WriteFile(empty, []byte("\n"), 0o600)
	for _, k := range []struct {
		args, want string
	}{
		{"--token-file " + empty, "want one line"}, {"--token-file " + empty + "x", "no such file"},
		{"--token-file /dev/zero", "want one line"},
		{"--token opensesame --token-file " + empty, "want one of them"},
	} {
		code, out, errText := runApp(t, append([]string{"serve", "pendulum"}, strings.Fields(k.args)...)...)
		if code != 2 || !strings.Contains(errText, k.want) || strings.Contains(out+errText, "opensesame") {
			t.Errorf("%s: got exit %d: %s, want 2 and %q", k.args, code, errText, k.want)
		}
	}
}
