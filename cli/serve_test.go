package cli

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/motion"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/protocols/odcp"
	"github.com/halyard-robotics/halyard/protocols/osp"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// running is "halyard serve" in this process, ready.
type running struct {
	ready
	signals chan os.Signal
	done    chan int
	stderr  *strings.Builder
	exit    int // the code expected at its end
	asked   bool
}

// startServe runs "halyard serve" with args and any free ports, until interrupt or the test's end.
func startServe(t *testing.T, args ...string) *running {
	t.Helper()
	return start(t, append([]string{"serve"}, args...)...)
}

// start runs a sub-command that serves until it is interrupted.
func start(t *testing.T, args ...string) *running {
	t.Helper()
	read, write := io.Pipe()
	r := &running{signals: make(chan os.Signal, 2), done: make(chan int, 1), stderr: &strings.Builder{}, exit: 130}
	a := &app{in: strings.NewReader(""), out: write, err: r.stderr, signals: r.signals,
		exit: func(int) {}} // else a second signal, of a test that fails, would end all tests without a word
	go func() {
		code := a.Run(context.Background(), append([]string{"-o", "jsonl"}, args...))
		write.Close()
		r.done <- code
	}()
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: exit %d: %s", args, <-r.done, r.stderr)
	}
	if err := json.Unmarshal([]byte(line), &r.ready); err != nil || r.Event != "ready" || r.Ports == nil {
		t.Fatalf("ready line: got %q: %v", line, err)
	}
	t.Cleanup(func() { r.interrupt(t) })
	return r
}

// ask sends Control-C, once.
func (r *running) ask() {
	if !r.asked {
		r.asked = true
		r.signals <- os.Interrupt
	}
}

// interrupt ends it as Control-C does.
func (r *running) interrupt(t *testing.T) {
	t.Helper()
	if r.done == nil {
		return
	}
	r.ask()
	if code := <-r.done; code != r.exit {
		t.Errorf("serve, interrupted: got exit %d, want %d: %s", code, r.exit, r.stderr)
	}
	r.done = nil
}

func (r *running) address(t *testing.T, protocol string) string {
	t.Helper()
	for _, s := range r.Servers {
		if s.Protocol == protocol {
			return s.Address
		}
	}
	t.Fatalf("ready: no %s server in %+v", protocol, r.Servers)
	return ""
}

// tracked is what play says of a joint.
type tracked struct {
	Joint string  `json:"joint"`
	RMS   float64 `json:"rms_rad"`
	Max   float64 `json:"max_rad"`
}

// played waves until each joint has followed within most, rad. It plays in real time, so a busy
// machine may try again, each time at half the speed.
func played(t *testing.T, r *running, most, speed float64) (rows []tracked) {
	t.Helper()
	for try := 1; ; try++ {
		code, out, errText := runApp(t, "play", "wave", "--speed", fmt.Sprint(speed), "--address", r.address(t, "odcp"),
			"-o", "jsonl")
		if code != 0 {
			t.Fatalf("play: exit %d: %s", code, errText)
		}
		rows = rows[:0]
		followed := true
		for row := range strings.Lines(out) {
			var j tracked
			if err := json.Unmarshal([]byte(row), &j); err != nil || j.Joint == "" || j.RMS > j.Max {
				t.Fatalf("play: got %s: %v", row, err)
			}
			followed = followed && j.Max < most
			rows = append(rows, j)
		}
		if followed {
			return rows
		}
		if try == 5 {
			t.Fatalf("play: at speed %g a joint was more than %g rad behind: %+v", speed, most, rows)
		}
		speed /= 2 // a busy machine is late by a time, which is less of a slower motion
	}
}

// The README's first minute: serve, play wave, status, estop, Control-C; on simulated and on emulated servos.
func TestServeAndPlay(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"sim", "emulated"} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			name := "play-" + body
			r := startServe(t, "demo", "--body", body, "--set", "name="+name, "--listen", "osp=127.0.0.1:0", "--listen",
				"odcp@humanoid=127.0.0.1:0")
			if rows := played(t, r, 1.2, 2); len(rows) != 21 {
				t.Fatalf("play: got %d joints, want 21: %+v", len(rows), rows)
			}
			if code, out, _ := runApp(t, "status", name, "-o", "jsonl"); code != 0 || strings.Count(out, "\n") != 22 {
				t.Errorf("status: exit %d:\n%s", code, out)
			}
			stopRig(t, name, 22)
			r.interrupt(t)
		})
	}
}

func TestServeRefusesABusyAddress(t *testing.T) {
	r := startServe(t, "pendulum", "--listen", "osp=127.0.0.1:0", "--listen", "odcp=127.0.0.1:0")
	code, _, errText := runApp(t, "serve", "pendulum", "--set", "name=other", "--listen", "odcp=127.0.0.1:0",
		"--listen", "osp="+r.address(t, "osp"))
	if code != 4 || !strings.Contains(errText, "--listen osp=127.0.0.1:0") {
		t.Errorf("busy address: got exit %d: %s; want 4 and what to type", code, errText)
	}
	code, _, errText = runApp(t, "serve", "pendulum", "--listen", "osp=127.0.0.1:0", "--listen", "odcp=127.0.0.1:0")
	if code != 4 || !strings.Contains(errText, "halyard status pendulum") {
		t.Errorf("a second rig of the name: got exit %d: %s; want 4", code, errText)
	}
}

// Two clients step two agents in lock-step after a reset with a seed; the same twice, bit for bit.
func TestTwoClientsRepeat(t *testing.T) {
	steps := haltest.Sample(2000, 10_000)
	first, second := twoClients(t, steps), twoClients(t, steps)
	if first != second {
		t.Errorf("%d steps of two agents: digests %x and %x, want equal", steps, first[:8], second[:8])
	}
	t.Logf("%d steps, two agents, two clients, twice: %x", steps, first[:8])
}

// twoClients runs a rig of its own and digests what both clients were told.
func twoClients(t *testing.T, steps int) (digest [sha256.Size]byte) {
	t.Helper()
	var out [2][]byte
	t.Run("run", func(t *testing.T) {
		r := startServe(t, "demo", "--listen", "osp=127.0.0.1:0", "--listen", "odcp@humanoid=127.0.0.1:0")
		var wg sync.WaitGroup
		registered := make(chan struct{}, 2)
		begin := make(chan struct{})
		for i := range out {
			wg.Go(func() {
				c, err := osp.Dial(r.address(t, "osp"), osp.ClientOptions{})
				if err != nil {
					t.Error(err)
					registered <- struct{}{}
					return
				}
				defer c.Close()
				out[i] = stepAgent(t, c, i, steps, registered, begin)
			})
		}
		<-registered
		<-registered
		close(begin)
		wg.Wait()
	})
	return sha256.Sum256(append(out[0], out[1]...))
}

// stepAgent controls the i-th agent with a motion of its own and returns all that it measured.
func stepAgent(t *testing.T, c *osp.Client, i, steps int, registered chan<- struct{}, start <-chan struct{}) []byte {
	list, err := c.Overview()
	if err == nil && len(list) != 2 {
		err = fmt.Errorf("overview: got %d agents, want 2", len(list))
	}
	var id int32
	if err == nil {
		id = list[i].ID
		err = c.Register(id)
	}
	registered <- struct{}{}
	<-start
	if err == nil {
		err = c.Reset(7)
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	info, err := c.AgentInfo(id)
	if err != nil {
		t.Error(err)
		return nil
	}
	inputs := make([]float32, len(info.Inputs))
	var seen []byte
	for n := range steps {
		for k := range inputs {
			inputs[k] = float32(0.3 * math.Sin(float64(n)/50+float64(k)))
		}
		r, err := c.Step(id, inputs)
		if err != nil {
			t.Errorf("step %d: %v", n, err)
			return nil
		}
		for _, v := range append(append([]float32(nil), r.Outputs...), r.Infos...) {
			seen = binary.LittleEndian.AppendUint32(seen, math.Float32bits(v))
		}
	}
	return seen
}

// follow plays angles of the recorded motion's form into the first agent of a config, in lock-step, and returns the
// measured positions, joint by joint, sample by sample.
func follow(t *testing.T, m *motion.Motion, name string, o configs.Options, faults ...string) (measured [][]float64,
	residual float64) {
	t.Helper()
	sys, err := assembly.Build(rigtest.PlanOf(t, name, o), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer sys.Close()
	for _, text := range faults {
		f, err := wire.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := sys.Lines[0].Emu.Fault(f); err != nil {
			t.Fatal(err)
		}
	}
	agent := sys.Rig.Agents()[0]
	party := sys.Rig.NewSession("test", nil)
	lease, err := party.Acquire(agent)
	if err != nil {
		t.Fatal(err)
	}
	l := agent.Layout()
	inputs := make([]float64, len(l.Inputs))
	shadow := -1
	for i := range l.Infos {
		if strings.HasSuffix(l.Infos[i].Name, "/shadow_error") && shadow < 0 {
			shadow = len(l.Outputs) + i
		}
	}
	step := 0
	for _, s := range m.Samples {
		for i := range l.Actuators {
			a := &l.Actuators[i]
			inputs[a.Goal[hal.PositionMode]] = l.Inputs[a.Goal[hal.PositionMode]].FromFraction((s.Angle[i] + 1) / 2)
			inputs[a.TorqueLimit] = math.Max(0, s.Torque[i]) * a.Limits.MaxTorque
		}
		for ; step < int(s.At/sys.Rig.Period()); step++ {
			if err := party.Step(lease, inputs); err != nil {
				t.Fatal(err)
			}
		}
		all := agent.Measured(nil)
		if shadow >= 0 {
			residual = math.Max(residual, math.Abs(all[shadow]))
		}
		measured = append(measured, all[:len(l.Actuators)])
	}
	return measured, residual
}

// The recorded motion moves the emulated servos, through the whole driver stack, as it moves the simulated ones; so it
// does with one joint emulated and the rest simulated.
func TestBodiesFollowTheRecordedMotion(t *testing.T) {
	m, err := motion.OpenMotion(sharedData(t, "a-series/motion-1.txt"), 21)
	if err != nil {
		t.Fatal(err)
	}
	sim, _ := follow(t, m, "a-series", configs.Options{Body: "sim"})
	for _, c := range []struct {
		name    string
		options configs.Options
	}{
		{"emulated", configs.Options{Body: "emulated"}},
		{"one joint emulated", configs.Options{Set: []string{"agents[0].parts.left_elbow=emulated"}}},
	} {
		other, _ := follow(t, m, "a-series", c.options)
		for joint := range 21 {
			var squares, worst float64
			for k := range sim {
				e := other[k][joint] - sim[k][joint]
				squares += e * e
				worst = math.Max(worst, math.Abs(e))
			}
			rms := math.Sqrt(squares / float64(len(sim)))
			t.Logf("%s: joint %2d: differs by %.4f rad RMS, %.4f at most", c.name, joint, rms, worst)
			if rms > 0.02 {
				t.Errorf("%s: joint %d: differs by %.4f rad RMS, want at most 0.02", c.name, joint, rms)
			}
		}
	}
}

// A shadow tells the difference between an emulated joint and its simulated twin: small where both are alike, plain
// where something is wrong with the servo.
func TestShadowResidual(t *testing.T) {
	m := &motion.Motion{Joints: 1, Samples: []motion.Sample{{At: 1e9, Angle: []float64{0.2}, Torque: []float64{1}},
		{At: 2e9, Angle: []float64{0.2}, Torque: []float64{1}}}}
	good := configs.Options{Body: "emulated", Set: []string{"agents[0].shadow=true"}}
	if _, residual := follow(t, m, "pendulum", good); residual > 0.02 {
		t.Errorf("alike: residual %.4f rad, want below 0.02", residual)
	}
	_, residual := follow(t, m, "pendulum", configs.Options{Body: "emulated", Set: []string{"agents[0].shadow=true"}},
		"stuck servo 1")
	if residual < 0.1 {
		t.Errorf("a servo whose readings are stuck: residual %.4f rad, want it plain", residual)
	}
	t.Logf("shadow residual of a stuck servo: %.3f rad", residual)
}

// What the two protocols of one agent say agrees.
func TestODCPBesideOSP(t *testing.T) {
	r := startServe(t, "pendulum", "--listen", "osp=127.0.0.1:0", "--listen", "odcp=127.0.0.1:0")
	c, err := osp.Dial(r.address(t, "osp"), osp.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	list, err := c.Overview()
	if err != nil || len(list) != 1 {
		t.Fatalf("overview: %v, %v", list, err)
	}
	if err := c.Register(list[0].ID); err != nil {
		t.Fatal(err)
	}
	direct, err := odcp.Open(r.address(t, "odcp"), odcp.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	var last *osp.Result
	for range 300 {
		if err := direct.Set([]int32{600}, []int32{1023}); err != nil {
			t.Fatal(err)
		}
		if last, err = c.Step(list[0].ID, nil); err != nil {
			t.Fatal(err)
		}
	}
	seen, err := direct.Get()
	if err != nil {
		t.Fatal(err)
	}
	got := odcp.NormalisedAngle(seen[0])
	if math.Abs(got-float64(last.Outputs[0])) > 0.002 || math.Abs(got-odcp.NormalisedAngle(600)) > 0.03 {
		t.Errorf("ODCP says %.4f, OSP %.4f, the goal is %.4f", got, last.Outputs[0], odcp.NormalisedAngle(600))
	}
}

// sharedData is the path of a recording beside the repository; the test is skipped where it is absent.
func sharedData(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "data", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("recording absent: %s", name)
	}
	return path
}
