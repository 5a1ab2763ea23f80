package chaos

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"

	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/servo"
)

// planted are defects, one in each layer between a client and a motor.
func planted() map[string]struct {
	robot   string
	plant   *plant
	broken  string // the invariant
	actions int    // of the shortest schedule, at most
} {
	return map[string]struct {
		robot   string
		plant   *plant
		broken  string
		actions int
	}{
		"session": {"dynamixel2/xm430-w350", &plant{ghosts: true}, "runs on", 3},
		"guard":   {"so101", &plant{plan: unslewed}, "goal step", 3},
		"chain":   {"dynamixel1/mx-28", &plant{plan: func(p *plan.Plan) { wrapChains(p) }}, "unarmed torque", 4},
		"codec":   {"feetech/sts3215", &plant{plan: func(p *plan.Plan) { p.Tap = carryLost }}, "goal outside", 3},
		"host":    {"lx16a-arm", &plant{awake: true}, "status", 1},
	}
}

// unslewed is a guard that does not bound the speed of goals.
func unslewed(p *plan.Plan) {
	p.Agents = slices.Clone(p.Agents)
	for i := range p.Agents {
		c := *p.Agents[i].Config
		c.Guard.Slew, c.Guard.FollowingError = 1, 10
		p.Agents[i].Config = &c
	}
}

// wrapChains makes every chain of p forget that torque is to go off.
func wrapChains(p *plan.Plan) {
	c := *p.Catalog
	c.Buses = slices.Clone(c.Buses)
	for i := range c.Buses {
		c.Buses[i].Driver = forgetful{c.Buses[i].Driver}
	}
	p.Catalog = &c
}

type forgetful struct{ servo.Driver }

func (d forgetful) Chain(c servo.ChainConfig) servo.LineChain {
	return &forgetfulChain{d.Driver.Chain(c), map[int]servo.Goal{}}
}

type forgetfulChain struct {
	servo.LineChain
	goals map[int]servo.Goal
}

func (c *forgetfulChain) SetGoal(i int, g servo.Goal) {
	if !g.Enable && c.goals[i].Enable {
		return
	}
	c.goals[i] = g
	c.LineChain.SetGoal(i, g)
}

func (c *forgetfulChain) CutTorque() error {
	return c.LineChain.(interface{ CutTorque() error }).CutTorque()
}

// carryLost is the wire of a codec that loses the carry between the two bytes of a position: goals above a half turn
// are far beyond. The packets are otherwise sound.
func carryLost(_ string, _ configs.BodyKind, open servo.Opener) servo.Opener {
	return func() (servo.Line, error) {
		line, err := open()
		return carryless{line}, err
	}
}

type carryless struct{ servo.Line }

func (l carryless) Write(p []byte) (int, error) {
	p = bytes.Clone(p)
	for at := 0; at+7 < len(p); {
		n := 4 + int(p[at+3]) // ff ff id length ... checksum
		if p[at] != 0xff || n < 6 || at+n > len(p) {
			break
		}
		packet := p[at : at+n]
		// a sync write that covers the goal position
		if packet[4] == 0x83 && packet[5] <= 42 && 42 < packet[5]+packet[6] {
			for one := 7; one+int(packet[6]) < n; one += 1 + int(packet[6]) {
				packet[one+1+42-int(packet[5])+1] |= 0x04
			}
			sum := byte(0)
			for _, b := range packet[2 : n-1] {
				sum += b
			}
			packet[n-1] = ^sum
		}
		at += n
	}
	return l.Line.Write(p)
}

// TestBites: a defect that is planted in any layer is found, and minimised to what shows it. The seeds and the scripts
// are in testdata/planted; HALYARD_WRITE=1 writes them.
func TestBites(t *testing.T) {
	const most = 300
	for name, c := range planted() {
		t.Run(name, func(t *testing.T) {
			r, err := Open(c.robot, true)
			if err != nil {
				t.Fatal(err)
			}
			for seed := range int64(most) {
				result, err := r.seed(seed+1, c.plant)
				if err != nil {
					t.Fatal(err)
				}
				if result.Violated != c.broken {
					continue
				}
				if n := len(result.Script); n > c.actions {
					t.Errorf("minimised to %d actions, want at most %d", n, c.actions)
				}
				got := fmt.Sprintf("# %s %d: a defect in the %s: %s\n%s\n", c.robot, result.Seed, name, result.Violated,
					strings.Join(result.Script, "\n"))
				file := filepath.Join("testdata", "planted", name+".txt")
				if os.Getenv("HALYARD_WRITE") != "" {
					if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if want, err := os.ReadFile(file); err != nil || string(want) != got {
					t.Errorf("got\n%swant\n%s%v", got, want, err)
				}
				if sound, err := r.seed(result.Seed, nil); err != nil || sound.Violated != "" {
					t.Errorf("without the defect: got %q, %v", sound.Violated, err)
				}
				return
			}
			t.Errorf("not found in %d seeds", most)
		})
	}
}

// TestLeftBehind: a sweep that leaves goroutines behind is told.
func TestLeftBehind(t *testing.T) {
	before := leftNow()
	stop := make(chan struct{})
	defer close(stop)
	go func() { <-stop }()
	if after := leftNow(); after.goroutines != before.goroutines+1 {
		t.Errorf("got %d goroutines, want %d", after.goroutines, before.goroutines+1)
	}
}
