package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/rigtest"
)

// startEmulate runs "halyard emulate" in this process and returns the path of its first bus. After stop nothing can be
// opened at that path until the test ends.
func startEmulate(t *testing.T, config string) (path string, stop func()) {
	t.Helper()
	read, write := io.Pipe()
	a := &app{in: strings.NewReader(""), out: write, err: io.Discard, signals: make(chan os.Signal, 1),
		exit: func(int) {}}
	done := make(chan int, 1)
	go func() {
		code := a.Run(context.Background(), []string{"emulate", config, "-o", "jsonl"})
		write.Close()
		done <- code
	}()
	line, err := bufio.NewReader(read).ReadString('\n')
	var r ready
	if err == nil {
		err = json.Unmarshal([]byte(line), &r)
	}
	if err != nil || len(r.Ports) == 0 || r.Ports[0].Path == "" {
		t.Fatalf("emulate: got %q: %v", line, err)
	}
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		keepNumber(t, r.Ports[0].Path)
		a.signals <- os.Interrupt
		<-done
	}
	t.Cleanup(stop)
	return r.Ports[0].Path, stop
}

// realConfig writes an arm's config with that port and a calibration for every joint.
func realConfig(t *testing.T, port string) string { return realConfigOf(t, "xm430-arm", port) }

// realConfigOf is realConfig of an embedded config of one bus.
func realConfigOf(t *testing.T, name, port string) string {
	t.Helper()
	dir := t.TempDir()
	p := rigtest.PlanOf(t, name, configs.Options{})
	data, _ := configs.Embedded(name)
	text := string(data)
	for i, j := range p.Agents[0].Joints {
		u := j.Servo.Units()
		joint := p.Agents[0].Robot.Joints[i].Name
		c := calibration.Nominal(joint, calibration.Servo{Model: u.Name, ID: j.Hardware.ID}, calibration.Model{
			TicksPerTurn: u.TicksPerTurn, CentreTicks: u.CentreTicks, MinTicks: u.MinTicks, MaxTicks: u.MaxTicks,
			TorqueConstant: u.TorqueConstant})
		c.Method, c.Date = calibration.ByManual, time.Unix(1_700_000_000, 0)
		if _, err := calibration.Save(filepath.Join(dir, joint+".yaml"), c); err != nil {
			t.Fatal(err)
		}
		was := fmt.Sprintf("{bus: arm, id: %d, model: %s}", j.Hardware.ID, u.Name)
		text = strings.Replace(text, was, strings.TrimSuffix(was, "}")+", calibration: "+joint+".yaml}", 1)
	}
	text = strings.Replace(text, p.Config.Buses["arm"].Port, port, 1)
	path := filepath.Join(dir, "arm.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// stopRig stops a rig until so many joints have acknowledged it; 0: until no joint has not. The first stop latches;
// where the machine is so busy that an emulated device answers too late, the command says which joint did not, and a
// person stops once more.
func stopRig(t *testing.T, name string, joints int) {
	t.Helper()
	for range 5 {
		code, out, errText := runApp(t, "estop", name, "-o", "jsonl")
		if code == 0 && (joints == 0 || strings.Count(out, `"acknowledged":true`) == joints) {
			return
		}
		t.Logf("estop %s: exit %d: %s\n%s", name, code, errText, out)
	}
	t.Errorf("estop %s: got no acknowledgement of all %d joints in 5 stops", name, joints)
}

// The real body, on a serial port of the operating system, whose other end is an emulated arm in real time: it follows
// the same client that moves the simulated one, and a pulled cable is a fault of every joint and no crash.
func TestRealBodyOnAPTY(t *testing.T) {
	t.Parallel()
	port, unplug := startEmulate(t, "xm430-arm")
	config := realConfig(t, port)
	r := startServe(t, config, "--body", "real", "--set", "name=on-a-pty", "--set", "clock.period=20ms", "--set",
		"buses.arm.latency=200ms", "--listen", "osp=127.0.0.1:0", "--listen", "odcp=127.0.0.1:0")
	if code, _, errText := runApp(t, "arm", "on-a-pty"); code != 0 { // a real body starts disarmed
		t.Fatalf("arm: exit %d: %s", code, errText)
	}
	for _, j := range played(t, r, 0.6, 2) {
		t.Logf("%+v", j)
	}
	stopRig(t, "on-a-pty", 6)
	code, _, errText := runApp(t, "serve", config, "--body", "real", "--set", "name=other", "--listen",
		"osp=127.0.0.1:0", "--listen", "odcp=127.0.0.1:0")
	if code != 4 || !strings.Contains(errText, fmt.Sprint(os.Getpid())) {
		t.Errorf("the port is held: got exit %d: %s; want 4 and the process id", code, errText)
	}
	unplug()
	r.exit = 3 // its robot could not be told to stop
	if code, out, _ := runApp(t, "estop", "on-a-pty", "-o", "jsonl"); code != 5 ||
		strings.Contains(out, `"acknowledged":true`) {
		t.Errorf("estop without a cable: exit %d, want 5 and no acknowledgement:\n%s", code, out)
	}
}

// TestRealFault: serve --fault falsifies the readings of one real servo, which is a fault of its joint and no other;
// what real servos cannot have is refused.
func TestRealFault(t *testing.T) {
	t.Parallel()
	port, _ := startEmulate(t, "xm430-arm")
	config := realConfig(t, port)
	args := []string{config, "--body", "real", "--set", "name=drilled", "--set", "clock.period=20ms", "--set",
		"buses.arm.latency=200ms", "--listen", "osp=127.0.0.1:0", "--listen", "odcp=127.0.0.1:0", "--fault"}
	for fault, want := range map[string]string{"crc servo 3": "got a real servo, want stale",
		"drop servo 77":      "no servo has",
		"tail: drop servo 3": `no bus "tail"`} {
		if code, _, errText := runApp(t, append([]string{"serve"}, append(args, fault)...)...); code != 2 ||
			!strings.Contains(errText, want) {
			t.Errorf("%s: got exit %d: %s; want 2 and %q", fault, code, errText, want)
		}
	}
	startServe(t, append(args, "arm: drop servo 3 p=1")...)
	var out string
	for range 1000 {
		if _, out, _ = runApp(t, "status", "drilled", "-o", "jsonl"); strings.Contains(out, "rehearsal") {
			break
		}
		time.Sleep(20 * time.Millisecond) // its first readings
	}
	if strings.Count(out, "rehearsal") != 1 {
		t.Errorf("status: got %s; want a fault of one joint", out)
	}
}

func TestRealBodyWithoutItsPort(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	config := realConfig(t, "/dev/serial/by-id/nobody")
	code, _, errText := runApp(t, "serve", config, "--body", "real", "--listen", "osp=127.0.0.1:0", "--listen",
		"odcp=127.0.0.1:0")
	if code != 3 || !strings.Contains(errText, "halyard ports") {
		t.Errorf("port absent: got exit %d: %s; want 3 and what to type", code, errText)
	}
}
