package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/protocols/odcp"
)

// TestFreeze: a serve, its supervisor, or both are stopped and continued while a client commands on. The arm on the
// other end of the line loses its torque and gets none back, the log and the status say why, and it runs again after
// reset and arm.
func TestFreeze(t *testing.T) {
	lengths, latency := []time.Duration{2 * time.Second}, "100ms" // of a busy machine
	if text := os.Getenv("HALYARD_FREEZE"); text != "" {          // for docs/figures.md: "400ms 2s 30s"
		lengths, latency = nil, "16ms"
		for _, word := range strings.Fields(text) {
			d, err := time.ParseDuration(word)
			if err != nil {
				t.Fatal(err)
			}
			lengths = append(lengths, d)
		}
	}
	for _, whose := range []string{"rig", "supervisor", "both"} {
		for _, d := range lengths {
			t.Run(whose+" "+d.String(), func(t *testing.T) {
				if len(lengths) == 1 {
					t.Parallel()
				}
				frozen(t, "frozen-"+whose+"-"+d.String(), latency).freeze(t, whose, d)
			})
		}
	}
}

// freezing is a serve in a process of its own, whose arm a client commands all the time.
type freezing struct {
	name   string
	serve  *exec.Cmd
	stderr *lockedBuffer
	torque func() bool
}

type lockedBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *lockedBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

func frozen(t *testing.T, name, latency string) *freezing {
	t.Helper()
	armPort, torque := emulatedArm(t)
	basePort, _ := emulatedBase(t)
	f := &freezing{name: name, torque: torque}
	r := &running{}
	for trial := 1; ; trial++ { // a busy machine answers late while the line is opened
		f.stderr = &lockedBuffer{}
		f.serve = exec.Command(os.Args[0], "serve", dyingRig(t, armPort, basePort), "--set", "name="+name, "--set",
			"clock.period=20ms", "--set", "buses.arm.latency="+latency,
			"--dashboard", "off", "--listen", "osp=127.0.0.1:0", "--listen", "odcp=127.0.0.1:0", "--listen",
			"gamebots=127.0.0.1:0", "-o", "jsonl")
		var err error
		if r.ready, err = f.starts(); err == nil {
			break
		} else if trial == 5 {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { f.serve.Process.Kill(); f.serve.Wait() })
	joints, err := odcp.Open(r.address(t, "odcp"), odcp.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var ended atomic.Bool
	var client sync.WaitGroup
	client.Go(func() {
		for k := 0.0; !ended.Load(); k++ {
			at := int32(512 + 100*math.Sin(k/50))
			joints.Set([]int32{at, at, at, at, at, at}, []int32{1023, 1023, 1023, 1023, 1023, 1023})
			<-time.After(20 * time.Millisecond)
		}
	})
	t.Cleanup(func() { ended.Store(true); client.Wait(); joints.Close() })
	f.arm(t)
	return f
}

// starts starts the process and waits until it is ready.
func (f *freezing) starts() (r ready, err error) {
	f.serve.Env, f.serve.Stderr = append(os.Environ(), "HALYARD_TEST_COMMAND=1"), f.stderr
	out, err := f.serve.StdoutPipe()
	if err == nil {
		err = f.serve.Start()
	}
	if err != nil {
		return r, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		err = json.Unmarshal([]byte(line), &r)
	}
	if err != nil {
		f.serve.Process.Kill()
		f.serve.Wait()
		return r, fmt.Errorf("serve: got %q, %w: %s", line, err, f.stderr.text())
	}
	return r, nil
}

// arm resets and arms it until it has torque.
func (f *freezing) arm(t *testing.T) {
	t.Helper()
	soon(t, "torque: "+f.stderr.text(), func() bool {
		runApp(t, "reset", f.name)
		runApp(t, "arm", f.name)
		for range 40 {
			if <-time.After(50 * time.Millisecond); f.torque() {
				return true
			}
		}
		return false
	})
}

func (f *freezing) freeze(t *testing.T, whose string, d time.Duration) {
	supervisors := children(f.serve.Process.Pid)
	if len(supervisors) != 1 {
		t.Fatalf("got supervisors %v, want one", supervisors)
	}
	var pids []int
	if whose != "supervisor" {
		pids = append(pids, f.serve.Process.Pid)
	}
	if whose != "rig" {
		pids = append(pids, supervisors[0])
	}
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGSTOP)
	}
	begin := time.Now()
	off := time.Duration(0)
	on := 0 // times that torque came back
	look := func() {
		switch torque := f.torque(); {
		case !torque && off == 0:
			off = time.Since(begin)
		case torque && off > 0:
			on++
		}
	}
	for time.Since(begin) < d {
		look()
		<-time.After(time.Millisecond)
	}
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGCONT)
	}
	status := ""
	soon(t, "stopped: "+f.stderr.text(), func() bool {
		look()
		ans, err := control.Send(t.Context(), f.name, control.OrderStatus)
		if err == nil && len(ans.Joints) > 0 {
			status = ans.Joints[0].Reason
		}
		return err == nil && ans.Rig.Stopped && off > 0
	})
	for end := time.Now().Add(time.Second); time.Now().Before(end); <-time.After(time.Millisecond) {
		look() // the client commands on
	}
	t.Logf("torque off %v after the freeze began, status %q", off.Round(time.Millisecond), status)
	why := map[string]string{"rig": "supervis", "supervisor": "the supervisor does not answer",
		"both": "this process did not run"}[whose]
	if on > 0 {
		t.Errorf("torque came back %d times without arm", on)
	}
	if text := f.stderr.text(); !strings.Contains(text, "emergency stop") || whose != "both" &&
		!strings.Contains(text, why) || status == "" {
		t.Errorf("status %q, log: %s; want %q", status, text, why)
	}
	f.arm(t)
}
