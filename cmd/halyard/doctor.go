package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/video"
)

// The doctor looks at a robot from the machine inwards, so that the first thing that is wrong is named and not its
// consequences. Each check has its own name; a fault that is planted alone is found by one of them alone.
//
//	port           the adapter is there, and stays                               doctor_host.go
//	access         this user may open it
//	holder         nobody else has it open
//	meddler        no daemon that opens serial ports by itself runs
//	name           the config calls it by a name that stays
//	rate           it can go as fast as the bus
//	latency        the adapter hands answers on within 1 ms
//	echo           it does not hear its own bytes                                doctor_bus.go
//	power          somebody answers; no servo restarts while it is looked at     and doctor_registers.go
//	servo          every servo answers at its id
//	baud           at the bus's rate
//	protocol       in the bus's protocol                                        doctor_strangers.go
//	id             and no other servo does                                       doctor_servo.go
//	model          it is what the config says
//	speed          it answers in time
//	answers        its answers are whole
//	status-return  it answers reads, and acknowledges writes
//	firmware       equal models have equal firmware                              doctor.go
//	return-delay   it does not wait longer than the config says                  doctor_registers.go
//	values         its encoder and its clock are alive
//	voltage        its supply is within its limits
//	temperature    it is cooler than its limit
//	alarm          nothing is latched
//	torque-limit   no limit of zero keeps it limp
//	lock           its EEPROM is closed, where it has a lock
//	settings       nothing is left in it that turns, fences or unprotects it    doctor_settings.go
//	watchdog       its bus watchdog has not tripped
//	calibration    there, measured, and of this servo                            doctor_calibration.go
//	load           the driver's cycle fits into the period                       doctor_load.go
//	line           a line of a GPIO chip is nobody else's                         doctor_lines.go
//	estop          the circuit of a stop button is closed
//	gate           something else than the bus ends a board's pulses
//	device         what is no servo answers, is what the config says, and measures   doctor_device.go
//	alarm          of a device: what it measures is within below and above
//	camera         it is there, nobody else's, and offers what the config asks for   doctor_camera.go
//
// What one look at a robot at rest cannot tell: a position that is off by a constant, and values that are merely old.

// The states of a finding.
const (
	stateOK   = "ok"
	stateWarn = "warn" // it runs, but not as it should
	stateFail = "fail" // it would not run, or not safely
)

// finding is one check's result: what was found, and what to do about it.
type finding struct {
	Check string `json:"check"`
	State string `json:"state"`
	Bus   string `json:"bus"`
	ID    *int   `json:"id"` // null where it is of no single servo
	Joint string `json:"joint"`
	Found string `json:"found"`
	Fix   string `json:"fix"`

	kind hal.Kind // the exit code of a failure; not in the row, since the command's exit code says it
}

func (finding) header() []string {
	return []string{"state", "check", "bus", "id", "joint", "found", "fix"}
}

func (f finding) cells() []string {
	id := "-"
	if f.ID != nil {
		id = strconv.Itoa(*f.ID)
	}
	return []string{f.State, f.Check, cmp.Or(f.Bus, "-"), id, cmp.Or(f.Joint, "-"), f.Found, cmp.Or(f.Fix, "-")}
}

func newDoctor(a *app) *cobra.Command {
	var f configFlags
	var faults []string
	var strict, matrix bool
	c := &cobra.Command{
		Use:   "doctor CONFIG",
		Short: "every pre-flight check of a robot, with the fix of each that fails",
		Long: "Examines the ports and servos that CONFIG names: simulated joints too, as what they would be if they were real.\n" +
			"With --body emulated it examines the emulated servos instead, in memory, with the faults of --fault.\n" +
			"Nothing moves and no register is written. The exit code is the one of the worst finding.",
		Example: "  halyard doctor my-robot.yaml\n  halyard doctor so101 --body emulated --fault \"off servo 3\"\n  halyard doctor --matrix",
		Args: func(cmd *cobra.Command, args []string) error {
			if matrix {
				return cobra.NoArgs(cmd, args)
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		ValidArgsFunction: completeConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if matrix {
				return a.doctorMatrix(cmd.Context())
			}
			_, p, err := f.load(a, args)
			if err != nil && !uncalibratedAlone(err) {
				return err
			}
			d, err := newExamination(p, f.body, faults)
			if err != nil {
				return err
			}
			d.note = a.note
			if err := d.run(cmd.Context()); err != nil {
				return err
			}
			if err := show(a, d.found); err != nil {
				return err
			}
			return d.verdict(strict)
		},
	}
	f.add(c)
	c.Flags().StringArrayVar(&faults, "fault", nil, `plant a fault in the emulated servos: "off servo 3", "BUS: crc servo 3 p=0.1"`)
	c.Flags().BoolVar(&matrix, "matrix", false, "prove the doctor itself: plant each fault it knows in emulated robots, one at a time, and print what it says")
	c.Flags().BoolVar(&strict, "strict", false, "exit 8 where there is any warning")
	return c
}

// uncalibratedAlone tells whether err is nothing but missing or foreign calibrations, which the doctor names itself.
func uncalibratedAlone(err error) bool {
	var faults configs.Faults
	return errors.As(err, &faults) && !slices.ContainsFunc(faults, func(f configs.Fault) bool { return f.Kind != hal.Uncalibrated })
}

// examination is one run of the doctor. It writes nothing to any servo.
type examination struct {
	plan  *plan
	root  string         // where /sys, /proc and /dev of the machine stand
	world *emulatedWorld // what emulated joints are examined on
	// open opens a bus for examination: a real port, or an emulated bus in memory. Tests put other lines here.
	open func(name string, kind configs.BodyKind) (servo.Line, error)
	// hypothetic counts simulated joints as real ones: a config that says "body: sim" may still be the robot on the
	// table, and whoever asks the doctor wants to know whether it could be real.
	hypothetic bool
	note       func(format string, args ...any)
	tamper     func(*emulation)    // plants faults in emulated devices; tests do
	blur       func(*video.Camera) // and in cameras
	found      []finding
	met        []*servoCheck // servos that answered and are what they should be
}

// newExamination prepares the examination of p. body is what the command line made of every agent, "" for nothing.
func newExamination(p *plan, body string, faults []string) (*examination, error) {
	p, err := p.stationed()
	if err != nil {
		return nil, err
	}
	d := &examination{plan: p, root: machineRoot, hypothetic: body == "", note: func(string, ...any) {}}
	d.open = d.openBus
	if d.world, err = emulateWorld(p); err != nil {
		return nil, err
	}
	for _, text := range faults {
		if err := d.world.plant(text); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// openBus opens a real port, or an emulated bus in memory.
func (d *examination) openBus(name string, kind configs.BodyKind) (servo.Line, error) {
	if kind == configs.Emulated {
		return d.world.bus(name).Open()
	}
	bus := d.plan.config.Buses[name]
	if t := busTypes[bus.Type]; t.filters != nil {
		return t.portOpener(&bus, nil)()
	}
	line, err := serial.Open(bus.Port, bus.Baud, bus.Opener)
	if err != nil {
		return nil, err // not a *Line that is nil inside an interface
	}
	return line, line.SetEven(busTypes[bus.Type].even)
}

// run examines every bus, its servos, and the whole.
func (d *examination) run(ctx context.Context) error {
	examined := 0
	for _, name := range slices.Sorted(maps.Keys(d.plan.config.Buses)) {
		for _, kind := range []configs.BodyKind{configs.Emulated, configs.Real} {
			on := d.on(name, kind)
			if len(on) == 0 {
				continue
			}
			examined += len(on)
			d.note("bus %s: %d %s servos", name, len(on), kind)
			if err := newBusExam(d, name, kind, on).run(ctx); err != nil {
				return err
			}
		}
	}
	if err := d.devices(); err != nil {
		return err
	}
	if examined+len(d.plan.boards)+len(d.plan.sensors)+len(d.plan.cameras)+len(d.plan.used()) == 0 {
		d.note("nothing is emulated or real: there is nothing to examine; without --body it is, as if it were real")
	}
	d.uniform()
	// What must be put right first is read first.
	rank := map[string]int{stateFail: 0, stateWarn: 1, stateOK: 2}
	slices.SortStableFunc(d.found, func(a, b finding) int { return rank[a.State] - rank[b.State] })
	return nil
}

// on lists the joints of one kind on a bus.
func (d *examination) on(bus string, kind configs.BodyKind) []jointRef {
	list := d.plan.on(bus, kind)
	if kind == configs.Real && d.hypothetic {
		list = append(list, d.plan.on(bus, configs.Sim)...)
	}
	return list
}

// verdict is the error of the worst finding, nil where there is none. Warnings alone are an error (hal.Differs) only
// where strict asks for it.
func (d *examination) verdict(strict bool) error {
	worst, fails, warns := hal.Unexpected, 0, 0
	for _, f := range d.found {
		switch f.State {
		case stateWarn:
			warns++
		case stateFail:
			if fails++; worst == hal.Unexpected || gravity(f.kind) < gravity(worst) {
				worst = f.kind
			}
		}
	}
	switch {
	case fails > 0:
		return &hal.Error{Kind: worst, Op: "doctor", Err: fmt.Errorf("%d checks failed, %d warn", fails, warns)}
	case warns > 0 && strict:
		return &hal.Error{Kind: hal.Differs, Op: "doctor", Err: fmt.Errorf("%d checks warn", warns)}
	}
	d.note("ready: %d checks, %d warn", len(d.found), warns)
	return nil
}

// gravity ranks kinds, the worst first: a port that is not there hides all the rest.
func gravity(k hal.Kind) int {
	order := []hal.Kind{hal.Absent, hal.Busy, hal.BusFault, hal.Invalid, hal.Uncalibrated}
	if i := slices.Index(order, k); i >= 0 {
		return i
	}
	return len(order)
}

// uniform compares the firmware of equal models over all buses: the fewer differ from the more. Versions behave
// differently (profiles, fast sync read), which is looked for in vain in one joint's tuning.
func (d *examination) uniform() {
	type group struct{ model, firmware string }
	count := map[group]int{}
	best := map[string]group{}
	for _, s := range d.met {
		g := group{s.called(), s.firmware}
		if count[g]++; g.firmware != "" && count[g] > count[best[g.model]] {
			best[g.model] = g
		}
	}
	for _, s := range d.met {
		if b := best[s.called()]; s.firmware != b.firmware && s.firmware != "" {
			s.warn("firmware", fmt.Sprintf("%s, the other %d %s have %s", s.firmware, count[b], b.model, b.firmware), s.firmwareFix())
		}
	}
}

// firmwareFix is the maker's own tool, since no other writes firmware.
func (s *servoCheck) firmwareFix() string {
	if s.protocol == asFeetech {
		return "bring all to one version with Feetech's FD"
	}
	return "bring all to one version with DYNAMIXEL Wizard 2.0"
}
