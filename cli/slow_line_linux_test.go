package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/protocols/odcp"
)

// tenServos writes a config of an arm of ten servos behind an adapter that holds replies back for 16 ms, each
// calibrated.
func tenServos(t *testing.T, model, kind string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "ten.yaml")
	write := func(joint string) {
		var urdf, joints strings.Builder
		urdf.WriteString("<robot name='ten'><link name='l0'/>")
		for i := 1; i <= 10; i++ {
			fmt.Fprintf(&urdf, "<link name='l%d'><inertial><mass value='0.01'/><inertia ixx='1e-4' iyy='1e-4' "+
				"izz='1e-4' ixy='0' ixz='0' iyz='0'/></inertial></link>"+
				"<joint name='j%d' type='revolute'><parent link='l%d'/><child link='l%d'/><axis xyz='0 0 1'/><limit "+
				"lower='-1' upper='1' effort='1' velocity='1'/></joint>", i, i, i-1, i)
			fmt.Fprintf(&joints, "        j%d: {bus: arm, id: %d, model: %s%s}\n", i, i, model,
				strings.ReplaceAll(joint, "N", strconv.Itoa(i)))
		}
		urdf.WriteString("</robot>")
		text := "name: ten\nclock: {mode: realtime, period: 20ms}\nbuses:\n  arm: {type: " + kind +
			", port: /dev/nobody, baud: 1000000, latency: 16ms, timing: {latency_timer: 16ms}}\n" +
			"agents:\n  - name: ten\n    model: ten.urdf\n    body: emulated\n    hardware:\n      joints:\n" +
			joints.String() +
			"servers:\n  - {protocol: odcp, listen: \"127.0.0.1:0\", agent: ten}\n"
		for name, text := range map[string]string{"ten.urdf": urdf.String(), "ten.yaml": text} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("")
	for i, j := range rigtest.PlanOf(t, path, configs.Options{}).Agents[0].Joints {
		u := j.Servo.Units()
		joint := "j" + strconv.Itoa(i+1)
		c := calibration.Nominal(joint, calibration.Servo{Model: u.Name, ID: i + 1},
			calibration.Model{TicksPerTurn: u.TicksPerTurn, CentreTicks: u.CentreTicks,
				MinTicks: u.MinTicks, MaxTicks: u.MaxTicks, TorqueConstant: u.TorqueConstant})
		c.Method, c.Date = calibration.ByManual, time.Unix(1_700_000_000, 0)
		if _, err := calibration.Save(filepath.Join(dir, joint+".yaml"), c); err != nil {
			t.Fatal(err)
		}
	}
	write(", calibration: jN.yaml")
	return path
}

// TestSlowLineIsNoHang: ten servos behind a slow adapter run without a stop, through arming, motion and servos without
// power; a true hang is found within the time that plan prints.
func TestSlowLineIsNoHang(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("HALYARD_SLOW_LINE"))
	if err != nil {
		t.Skip("set HALYARD_SLOW_LINE=10m on an idle machine: the adapter's delays are real")
	}
	for _, c := range [][2]string{{"sts3215", "feetech"}, {"xm430-w350", "dynamixel2"}} {
		t.Run(c[0], func(t *testing.T) {
			t.Parallel()
			path := tenServos(t, c[0], c[1])
			code, out, errText := runApp(t, "plan", path, "-o", "jsonl")
			var row struct {
				Hang float64 `json:"hang_ms"`
			}
			if err := json.Unmarshal([]byte(out), &row); code != 0 || err != nil {
				t.Fatalf("plan: exit %d, %v: %s", code, err, errText)
			}
			slowLine(t, path, "ten-"+c[0], length, time.Duration(row.Hang*float64(time.Millisecond)))
		})
	}
}

func slowLine(t *testing.T, path, name string, length, bound time.Duration) {
	cfg, err := halyard.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	e, err := halyard.Emulate(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ports, served := make(chan string, 1), make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		served <- e.Serve(ctx, "", func(p []halyard.Port) error { ports <- p[0].Path; return nil })
		close(served)
	}()
	t.Cleanup(func() { cancel(); <-served; e.Close() })
	f := &freezing{name: name, torque: func() bool {
		return slices.ContainsFunc(e.Hand("look").(assembly.HandAnswer).Joints,
			func(j assembly.HandJoint) bool { return j.Torque })
	}}
	port, r := <-ports, &running{}
	for trial := 1; ; trial++ { // a busy machine answers late while the line is opened
		f.stderr = &lockedBuffer{}
		f.serve = exec.Command(os.Args[0], "serve", path, "--body", "real", "--set", "name="+name, "--set",
			"buses.arm.port="+port, "--dashboard", "off", "-o", "jsonl")
		if r.ready, err = f.starts(); err == nil {
			break
		} else if trial == 20 {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { f.serve.Process.Kill(); f.serve.Wait() })
	joints, err := odcp.Open(r.address(t, "odcp"), odcp.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer joints.Close()
	drive := func(d time.Duration) {
		for k, begin := 0, time.Now(); time.Since(begin) < d; k++ {
			at := int32(512 + k%200)
			joints.Set(slices.Repeat([]int32{at}, 10), slices.Repeat([]int32{1023}, 10))
			<-time.After(20 * time.Millisecond)
		}
	}
	stops := func() int { return strings.Count(f.stderr.text(), `msg="emergency stop"`) }
	driven := func() {
		soon(t, "torque: "+f.stderr.text(), func() bool {
			runApp(t, "reset", name)
			runApp(t, "arm", name)
			drive(time.Second)
			return f.torque()
		})
	}
	for trial := 1; ; trial++ { // this machine may really not run it for so long
		driven()
		before := stops()
		drive(length)
		if err := e.Fault("power_loss bus for=1s"); err != nil {
			t.Fatal(err)
		}
		drive(2 * time.Second)
		n := stops() - before
		t.Logf("%v and a loss of power: %d stops: %s", length, n,
			regexp.MustCompile(`.*msg="emergency stop".*`).FindAllString(f.stderr.text(), -1))
		if n == 0 {
			break
		} else if trial == 5 {
			t.Fatalf("%d stops without a hang: %s", n, f.stderr.text())
		}
	}
	driven()
	supervisor := children(f.serve.Process.Pid)
	begin := time.Now()
	f.serve.Process.Signal(syscall.SIGSTOP)
	for f.torque() && time.Since(begin) < time.Minute {
		<-time.After(time.Millisecond)
	}
	off := time.Since(begin)
	t.Logf("a hang: torque off after %v, plan promises %v; supervisor %v", off.Round(time.Millisecond),
		bound.Round(time.Millisecond), supervisor)
	if off >= time.Minute {
		t.Error("a hang was not found")
	}
	if f.serve.Process.Signal(syscall.SIGCONT); len(supervisor) == 1 {
		soon(t, "stopped", func() bool {
			ans, err := control.Send(t.Context(), name, control.OrderStatus)
			return err == nil && ans.Rig.Stopped
		})
	}
}
