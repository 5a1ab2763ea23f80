package bodies

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// Body is one way to run the robot.
type Body struct {
	Name   string
	kind   string // body: of the config
	mode   string // clock.mode
	timing string // clock.timing
}

// Bodies are those that are compared. All have the timing of real lines.
var bodies = []Body{
	{"sim", "sim", "lockstep", "real"},
	{"lock-step", "emulated", "lockstep", "real"},
	{"real time", "emulated", "realtime", "real"},
	{"real", "real", "realtime", "real"},
}

// Bodies are the bodies of the bench.
func Bodies() []Body { return bodies }

// Line is the robot's bus.
type Line struct {
	Name   string
	Baud   int
	Keys   string // more of the bus, as YAML: ", latency: 16ms"
	Period time.Duration
}

// Lines are those of the bench; the first is the usual one.
var lines = []Line{
	{"1 Mbaud", 1_000_000, "", 10 * time.Millisecond},
	{"115,200 Bd", 115_200, "", 10 * time.Millisecond},
	{"57,600 Bd", 57_600, "", 10 * time.Millisecond},
	{"16 ms adapter", 1_000_000, ", latency: 16ms, timing: {servo_delay: 50us, latency_timer: 16ms}",
		10 * time.Millisecond},
}

// Lines are the lines of the bench.
func Lines() []Line { return lines }

const robotConfig = `name: %s
clock: {mode: realtime, period: %v}
world: {scene: flat, seed: 1}
buses:
  arm: {type: %s, port: /dev/null, baud: %d, return_delay: 0s%s}
agents:
  - name: arm
    model: xm430-arm
    body: emulated
    guard: {on_timeout: hold, command_timeout: 2s}
    hardware: {joints: {%s}}
servers: [%s]
`

// joints of the robot, in the order of its model.
var joints = []string{"base", "shoulder", "elbow", "wrist_pitch", "wrist_roll", "gripper"}

// Robot is the bench's robot as files in a folder.
type Robot struct {
	Path string // of the config
	Line Line
}

// NewRobot writes the config of the robot on a line, with servers, into dir, and a calibration a joint.
func NewRobot(dir string, l Line, servers string) (*Robot, error) {
	if !strings.Contains(l.Keys, "timing") {
		l.Keys += ", timing: {servo_delay: 50us}"
	}
	arm, err := halyard.Load("xm430-arm")
	if err != nil {
		return nil, err
	}
	write := func(calibrated bool) (string, error) {
		var list []string
		for i, j := range joints {
			file := ""
			if calibrated {
				file = ", calibration: " + j + ".yaml"
			}
			list = append(list, fmt.Sprintf("%s: {bus: arm, id: %d, model: %s%s}", j, i+1,
				arm.Agents[0].Joint(j).Model, file))
		}
		path := filepath.Join(dir, "bodies.yaml")
		return path, os.WriteFile(path, fmt.Appendf(nil, robotConfig, "b"+filepath.Base(dir), l.Period,
			arm.Buses["arm"].Type, l.Baud, l.Keys, strings.Join(list, ", "), servers), 0o600)
	}
	path, err := write(false)
	if err != nil {
		return nil, err
	}
	cfg, err := halyard.Load(path)
	if err != nil {
		return nil, err
	}
	p, err := plan.Resolve(cfg, builtin.Catalog())
	if err != nil {
		return nil, err
	}
	for i, j := range p.Agents[0].Joints {
		u := j.Servo.Units()
		c := calibration.Nominal(joints[i], calibration.Servo{Model: u.Name, ID: i + 1},
			calibration.Model{TicksPerTurn: u.TicksPerTurn, CentreTicks: u.CentreTicks, MinTicks: u.MinTicks,
				MaxTicks: u.MaxTicks, TorqueConstant: u.TorqueConstant})
		c.Method, c.Date = calibration.ByManual, time.Unix(1_700_000_000, 0)
		if _, err := calibration.Save(filepath.Join(dir, joints[i]+".yaml"), c); err != nil {
			return nil, err
		}
	}
	path, err = write(true)
	return &Robot{path, l}, err
}

// open opens the robot as b; port is the terminal of a real one.
func (r *Robot) open(b Body, port string, with ...halyard.Option) (*halyard.System, error) {
	set := []halyard.Setting{halyard.Set("clock.mode", b.mode), halyard.Set("clock.timing", b.timing),
		halyard.Set("agents[0].body", b.kind)}
	if port != "" {
		set = append(set, halyard.Set("buses.arm.port", port))
	}
	cfg, err := halyard.Load(r.Path, set...)
	if err != nil {
		return nil, err
	}
	return halyard.Open(cfg, with...)
}
