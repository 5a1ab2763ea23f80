package halyard_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
)

// pair is the config teleop in lock-step: its leader is held by a hand in its default pose.
type pair struct {
	*testing.T
	sys              *halyard.System
	leader, follower *halyard.Agent
	hand             map[string]float64 // where it holds the joints
}

func newPair(t *testing.T, leader, follower string, settings ...halyard.Setting) *pair {
	t.Helper()
	sys := open(t, "teleop", append([]halyard.Setting{halyard.Set("clock.mode", "lockstep"),
		halyard.Set("agents[1].body", leader), halyard.Set("agents[0].body", follower)}, settings...)...)
	p := &pair{t, sys, sys.Agent("leader"), sys.Agent("follower"), map[string]float64{}}
	for _, j := range p.leader.Joints() {
		p.hand[j] = 0
	}
	p.stand()
	return p
}

// stand brings the follower into its default pose by commands of a program, which then leaves.
func (p *pair) stand() {
	p.Helper()
	for range 150 {
		for _, j := range p.follower.Joints() {
			if err := p.follower.Command(j, halyard.Position(0)); err != nil {
				p.Fatal(err)
			}
		}
		p.step(1)
	}
	p.follower.Release()
	p.step(20)
}

// step lets n cycles pass, and returns how far the joints of the follower went in one of them at most.
func (p *pair) step(n int) (most float64) {
	p.Helper()
	before := p.positions()
	for range n {
		for j, at := range p.hand {
			if err := p.leader.Hand(j, at, 0); err != nil {
				p.Fatal(err)
			}
		}
		steps(p.T, p.sys, 1)
		now := p.positions()
		for i := range now {
			most = max(most, math.Abs(now[i]-before[i]))
		}
		before = now
	}
	return most
}

// move moves a joint of the leader in n cycles.
func (p *pair) move(joint string, to float64, n int) (most float64) {
	p.Helper()
	from := p.hand[joint]
	for i := range n {
		p.hand[joint] = from + (to-from)*float64(i+1)/float64(n)
		most = max(most, p.step(1))
	}
	return most
}

func (p *pair) positions() (list []float64) {
	for _, j := range p.follower.Joints() {
		list = append(list, p.follower.State(j).Position)
	}
	return list
}

// engage engages, and lets the follower arrive.
func (p *pair) engage() {
	p.Helper()
	if err := p.sys.Teleop().Engage(); err != nil {
		p.Fatal(err)
	}
	p.step(400)
	p.want("following", "")
}

// want checks the state, and the word in the reason for it.
func (p *pair) want(state, reason string) {
	p.Helper()
	s := p.sys.Teleop().Status()
	if string(s.State) != state || !strings.Contains(s.Reason, reason) {
		p.Fatalf("state: got %q, %q, want %q, %q", s.State, s.Reason, state, reason)
	}
}

// holds checks that the follower stays where it is while the leader moves.
func (p *pair) holds(joint string) {
	p.Helper()
	p.step(50) // it comes to rest
	before := p.follower.State(joint).Position
	at := p.hand[joint]
	p.move(joint, at-0.5, 50)
	p.move(joint, at, 50)
	if d := p.follower.State(joint).Position - before; !(math.Abs(d) < 0.02) {
		p.Fatalf("%s went by %.3f rad, want that it holds", joint, d)
	}
}

func (p *pair) near(joint string, want float64) {
	p.Helper()
	if at := p.follower.State(joint).Position; !(math.Abs(at-want) < 0.1) {
		p.Fatalf("%s: got %.3f, want %.3f", joint, at, want)
	}
}

// TestTeleopFollows: nothing moves before the operator engages; the follower goes to the leader at its home speed, and
// then follows it.
func TestTeleopFollows(t *testing.T) {
	for _, of := range [][2]string{{"emulated", "sim"}, {"emulated", "emulated"}, {"sim", "emulated"}, {"sim", "sim"}} {
		t.Run(of[0]+" to "+of[1], func(t *testing.T) {
			p := newPair(t, of[0], of[1])
			p.want("off", "not engaged")
			p.hand["elbow_flex"] = 1
			if most := p.step(50); most > 0.01 {
				t.Fatalf("the follower moved by %.3f rad in a cycle before it was engaged", most)
			}
			if err := p.sys.Teleop().Engage(); err != nil {
				t.Fatal(err)
			}
			most := p.step(150)
			p.want("engaging", "")
			most = max(most, p.step(150))
			p.want("following", "")
			if most > 0.5*0.01*3 { // the arm swings, but never at the 10 rad/s of its servos
				t.Fatalf("the follower went by %.3f rad in a cycle, want its home speed of 0.5 rad/s", most)
			}
			p.near("elbow_flex", 1)
			p.move("elbow_flex", 0, 100)
			p.step(30)
			p.near("elbow_flex", 0)
			if err := p.sys.Teleop().Disengage(); err != nil {
				t.Fatal(err)
			}
			p.want("off", "operator")
			p.holds("elbow_flex")
		})
	}
}

// TestTeleopOneLeaderTwoFollowers: each at its own pace, the other mirrored.
func TestTeleopOneLeaderTwoFollowers(t *testing.T) {
	data, _ := os.ReadFile("configs/teleop.yaml")
	text := string(data)
	end := strings.Index(text, "\nteleop:")
	one := text[strings.Index(text, "  - name: follower"):strings.Index(text, "  - name: leader")]
	second := strings.ReplaceAll(strings.ReplaceAll(one, "name: follower", "name: second"), "bus: follower, id: ",
		"bus: follower, id: 1")
	second = strings.Replace(second, "body: sim", "body: emulated\n    pose: {position: [0, 1, 0]}", 1)
	text = text[:end] + "\n" + second + text[end:] + `
  - leader: leader
    follower: second
    joints:
      shoulder_pan: {scale: -1, offset: 0.1}
      gripper: {leader: wrist_flex, range: true}
`
	file := filepath.Join(t.TempDir(), "two.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sys := open(t, file, halyard.Set("clock.mode", "lockstep"))
	p := &pair{t, sys, sys.Agent("leader"), sys.Agent("follower"), map[string]float64{}}
	for _, j := range p.leader.Joints() {
		p.hand[j] = 0
	}
	p.stand()
	p.engage()
	p.move("shoulder_pan", 0.6, 100)
	p.step(100)
	p.near("shoulder_pan", 0.6)
	p.follower = sys.Agent("second")
	p.near("shoulder_pan", -0.5)
	from, to := p.leader.Layout(), p.follower.Layout()
	wrist, gripper := from.Actuators[from.Actuator("wrist_flex")].Limits, to.Actuators[to.Actuator("gripper")].Limits
	p.move("wrist_flex", wrist.MinPosition+0.25*(wrist.MaxPosition-wrist.MinPosition), 200)
	p.step(100)
	p.near("gripper", gripper.MinPosition+0.25*(gripper.MaxPosition-gripper.MinPosition))
}

// TestTeleopMatch: with engage: match a follower that is elsewhere is refused, by the joint, and nothing moves.
func TestTeleopMatch(t *testing.T) {
	p := newPair(t, "emulated", "sim", halyard.Set("teleop[0].engage", "match"))
	p.hand["wrist_flex"] = 0.3
	p.step(20)
	err := p.sys.Teleop().Engage()
	if hal.KindOf(err) != hal.Unsafe || !strings.Contains(fmt.Sprint(err), "wrist_flex") ||
		!strings.Contains(fmt.Sprint(err), "-0.29") {
		t.Fatalf("got %v, want wrist_flex and its difference", err)
	}
	p.want("off", "")
	if a := p.sys.Rig().Agent("follower"); a.Holder() != "" {
		t.Errorf("the lease is held by %s after a refusal", a.Holder())
	}
	p.move("wrist_flex", 0.05, 20)
	if err := p.sys.Teleop().Engage(); err != nil {
		t.Fatal(err)
	}
	p.step(2)
	p.want("following", "")
}

// TestTeleopLost: what is lost on either side ends the engagement: the follower holds, and never goes on by itself.
func TestTeleopLost(t *testing.T) {
	silent := func(a func(*pair) *halyard.Agent) func(*pair) func() {
		return func(p *pair) func() {
			if err := a(p).Fault("elbow_flex", "power_loss"); err != nil {
				p.Fatal(err)
			}
			return func() { a(p).Fault("elbow_flex", "") }
		}
	}
	for _, c := range []struct {
		name   string
		lose   func(p *pair) (back func())
		reason string
	}{
		{"leader unplugged", silent(func(p *pair) *halyard.Agent { return p.leader }), "leader/elbow_flex"},
		{"dead follower", silent(func(p *pair) *halyard.Agent { return p.follower }), "follower/elbow_flex"},
		{"leader jumps", func(p *pair) func() {
			p.hand["elbow_flex"] += 1.2
			return func() { p.hand["elbow_flex"] -= 1.2 }
		}, "jumped"},
		{"emergency stop", func(p *pair) func() {
			if err := p.sys.Stop("test"); err != nil {
				p.Fatal(err)
			}
			return func() { p.sys.Reset(); p.sys.Arm() }
		}, "stopped"},
		{"disarmed", func(p *pair) func() { p.sys.Rig().Disarm(); return func() { p.sys.Arm() } }, "disarmed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, "emulated", "emulated")
			p.engage()
			p.move("elbow_flex", 0.4, 40)
			back := c.lose(p)
			if most := p.step(60); most > 0.06 {
				t.Errorf("the follower went by %.3f rad in a cycle", most)
			}
			p.want("off", c.reason)
			back()
			p.step(60)
			p.want("off", c.reason)
			if c.reason != "stopped" && c.reason != "disarmed" && !strings.HasPrefix(c.reason, "follower") {
				p.holds("elbow_flex")
			}
			p.hand["elbow_flex"] = 0
			if p.sys.Reset(); p.sys.Arm() != nil { // a servo that lost its power waits to be enabled
				t.Fatal("not armed")
			}
			p.step(60)
			p.engage() // the operator may
		})
	}
}

// TestTeleopLostPackets: some lost packets of the leader end nothing.
func TestTeleopLostPackets(t *testing.T) {
	p := newPair(t, "emulated", "emulated")
	p.engage()
	if err := p.leader.Fault("elbow_flex", "dropped p=0.02"); err != nil {
		t.Fatal(err)
	}
	p.move("elbow_flex", 0.4, 100)
	p.want("following", "")
	p.step(50)
	p.near("elbow_flex", 0.4)
}

// TestTeleopLeaderUnpluggedAtSetUp: without the leader the follower is never commanded.
func TestTeleopLeaderUnpluggedAtSetUp(t *testing.T) {
	p := newPair(t, "emulated", "emulated")
	if err := p.leader.Fault("gripper", "power_loss"); err != nil {
		t.Fatal(err)
	}
	p.step(60)
	err := p.sys.Teleop().Engage()
	if hal.KindOf(err) != hal.BusFault || !strings.Contains(fmt.Sprint(err), "leader/gripper") {
		t.Fatalf("got %v, want the joint of the leader", err)
	}
	p.holds("elbow_flex")
	p.leader.Fault("gripper", "")
	p.step(60)
}

// TestTeleopLeaderIsNeverDriven: not when all is armed, not by a client's command, not after a stop.
func TestTeleopLeaderIsNeverDriven(t *testing.T) {
	for _, body := range []string{"sim", "emulated"} {
		p := newPair(t, body, "sim")
		try := func() {
			t.Helper()
			p.sys.Arm()
			p.leader.Command("elbow_flex", halyard.Position(1))
			a := p.sys.Rig().Agent("leader")
			if err := a.RequestArm("test"); hal.KindOf(err) != hal.Unsafe {
				t.Errorf("a client armed a leader: %v", err)
			}
			for range 30 {
				steps(t, p.sys, 1)
				for i := range a.Layout().Actuators {
					if a.HasTorque(i) {
						t.Fatalf("%s: the leader has torque", body)
					}
				}
			}
			p.leader.Release()
		}
		try()
		p.engage()
		try()
		p.sys.Stop("test")
		p.step(5)
		p.sys.Reset()
		try()
	}
}

// TestTeleopTakeOver: a client that moved the follower hands over without a jump, and is in the way until it does.
func TestTeleopTakeOver(t *testing.T) {
	p := newPair(t, "emulated", "sim")
	for range 200 {
		p.follower.Command("shoulder_lift", halyard.Position(0.8))
		p.step(1)
	}
	if err := p.sys.Teleop().Engage(); hal.KindOf(err) != hal.Busy {
		t.Fatalf("got %v, want Busy", err)
	}
	p.follower.Release()
	p.step(1)
	if err := p.sys.Teleop().Engage(); err != nil {
		t.Fatal(err)
	}
	if err := p.follower.Command("shoulder_lift", halyard.Position(1)); hal.KindOf(err) != hal.Busy {
		t.Errorf("got %v, want Busy: the leader has it", err)
	}
	if most := p.step(300); most > 0.02 {
		t.Errorf("the follower went by %.3f rad in a cycle at the take-over", most)
	}
	p.want("following", "")
	p.near("shoulder_lift", 0)
	p.sys.Teleop().Disengage()
	before := p.follower.State("shoulder_lift").Position
	for range 100 {
		p.follower.Command("shoulder_lift", halyard.Position(before))
		if most := p.step(1); most > 0.02 {
			t.Errorf("the follower went by %.3f rad in a cycle when a client took it back", most)
		}
	}
}

// TestTeleopOffset: two arms that were calibrated apart, held in the same pose, show by how much.
func TestTeleopOffset(t *testing.T) {
	p := newPair(t, "emulated", "emulated", halyard.Set("agents[1].hardware.joints.elbow_flex.ground_truth.zero",
		"2241"))
	p.step(100)
	for _, j := range p.sys.Teleop().Status().Joints {
		want := 0.0
		if j.Follower == "follower/elbow_flex" {
			want = -193 * 2 * math.Pi / 4096
		}
		if d := float64(j.Offset) - want; math.Abs(d) > 0.05 || j.Frames < 40 {
			t.Errorf("%s: got an offset of %.3f in %d cycles, want %.3f", j.Follower, j.Offset, j.Frames, want)
		}
	}
}

// TestTeleopRefusesMappings that no robot could follow, all at once.
func TestTeleopRefusesMappings(t *testing.T) {
	cfg, err := halyard.Load("teleop", halyard.Set("teleop[0].joints", "{gripper: {leader: trigger}, wrist: {}}"))
	if err != nil {
		t.Fatal(err)
	}
	if sys, err := halyard.Open(cfg); err == nil {
		sys.Close()
		t.Error("unknown joints are accepted")
	} else if text := err.Error(); hal.KindOf(err) != hal.Invalid || !strings.Contains(text, "leader/trigger") ||
		!strings.Contains(text, "follower/wrist") {
		t.Errorf("got %v", err)
	}
	data, _ := os.ReadFile("configs/teleop.yaml")
	text := string(data)
	at, end := strings.Index(text, "  - name: leader"), strings.Index(text, "\nteleop:")
	other := strings.NewReplacer("name: leader", "name: other", "bus: leader, id: ", "bus: leader, id: 1").Replace(
		text[at:end])
	file := filepath.Join(t.TempDir(), "two.yaml")
	text = text[:end] + "\n" + other + text[end:] + "\n  - {leader: other, follower: follower}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if cfg, err = halyard.Load(file); err != nil {
		t.Fatal(err)
	}
	if sys, err := halyard.Open(cfg); err == nil {
		sys.Close()
		t.Error("two leaders of one joint are accepted")
	} else if !strings.Contains(err.Error(), "follower/gripper follows two joints") {
		t.Errorf("got %v", err)
	}
}

// TestTeleopWrongDirection: a leader whose joint turns the wrong way moves the follower no faster than its home speed
// when it engages, within its limits always, and an operator sees by how much they differ before.
func TestTeleopWrongDirection(t *testing.T) {
	p := newPair(t, "emulated", "sim", halyard.Set("agents[1].hardware.joints.elbow_flex.ground_truth.direction", "-1"))
	p.move("elbow_flex", 0.8, 50)
	p.step(20)
	for _, j := range p.sys.Teleop().Status().Joints {
		if j.Follower == "follower/elbow_flex" && math.Abs(float64(j.Difference)-0.8) > 0.1 {
			t.Errorf("got a difference of %.3f, want 0.8: the leader reads -0.8", j.Difference)
		}
	}
	if err := p.sys.Teleop().Engage(); err != nil {
		t.Fatal(err)
	}
	if most := p.step(250); most > 0.015 {
		t.Errorf("the follower went by %.3f rad in a cycle", most)
	}
	p.want("following", "")
	p.near("elbow_flex", -0.8)
}

// TestTeleopGripper: one that is open while the leader's is closed closes at the home speed, and never slams.
func TestTeleopGripper(t *testing.T) {
	p := newPair(t, "emulated", "emulated")
	p.move("gripper", 1.2, 50)
	p.step(20)
	if err := p.sys.Teleop().Engage(); err != nil {
		t.Fatal(err)
	}
	if most := p.step(300); most > 0.015 {
		t.Errorf("the gripper went by %.3f rad in a cycle", most)
	}
	p.want("following", "")
	p.near("gripper", 1.2)
}

// TestTeleopEnd: at the end the follower holds, and has its torque.
func TestTeleopEnd(t *testing.T) {
	p := newPair(t, "emulated", "emulated")
	p.engage()
	p.move("elbow_flex", 0.4, 40)
	before := p.follower.State("elbow_flex").Position
	p.sys.Teleop().Disengage()
	if most := p.step(200); most > 0.02 {
		t.Errorf("the follower went by %.3f rad in a cycle", most)
	}
	if a := p.sys.Rig().Agent("follower"); !a.HasTorque(2) ||
		math.Abs(p.follower.State("elbow_flex").Position-before) > 0.1 {
		t.Error("the follower does not hold without a client")
	}
}

// TestTeleopAllocatesNothing in its cycle.
func TestTeleopAllocatesNothing(t *testing.T) {
	p := newPair(t, "emulated", "sim")
	p.engage()
	if n := testing.AllocsPerRun(200, func() {
		if err := p.sys.Step(); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("a cycle allocates %g times", n)
	}
	p.want("following", "")
}

// TestTeleopReplays: a recording of a leader, its engagement and its marks repeats to the last bit.
func TestTeleopReplays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.mcap")
	cfg, err := halyard.Load("teleop", halyard.Set("clock.mode", "lockstep"), halyard.Set("record.file", file))
	if err != nil {
		t.Fatal(err)
	}
	sys, err := halyard.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	steps(t, sys, 300) // the leader falls, and the follower
	for _, f := range []func() error{sys.Teleop().Engage, func() error { return sys.Teleop().Mark("start fall") },
		func() error { return sys.Teleop().Mark("success") }, sys.Teleop().Disengage} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
		steps(t, sys, 50)
	}
	if err := sys.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if got, err := halyard.Replay(in, halyard.ReplayOptions{}); err != nil || got.Cycles < 500 || got.Different > 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}
