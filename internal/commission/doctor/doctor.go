package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/video"
)

// The doctor checks a robot from the machine inwards, so that the first fault is named and not its
// consequences. Each check has its own name; a single injected fault is found by exactly one of them.
//
//	port           the adapter is present, and stays so                          doctor_host.go
//	access         this user may open it
//	holder         no other program has it open
//	conflict       no daemon that opens serial ports by itself runs
//	name           the config uses its stable name
//	rate           it supports the rate of the bus
//	latency        the adapter forwards answers within 1 ms
//	echo           it does not receive its own bytes                                doctor_bus.go
//	power          a servo replies; none restarts while it is checked     and doctor_registers.go
//	servo          every servo answers at its id
//	baud           at the bus's rate
//	protocol       in the bus's protocol                                        doctor_strangers.go
//	id             and no other servo does                                       doctor_servo.go
//	model          it is the value in the config
//	speed          it answers in time
//	answers        its answers are complete
//	status-return  it answers reads, and acknowledges writes
//	firmware       equal models have equal firmware                              doctor.go
//	return-delay   it does not wait longer than in the config                  doctor_registers.go
//	values         its encoder and its clock are alive
//	voltage        its supply is within its limits
//	temperature    it is cooler than its limit
//	alarm          nothing is latched
//	torque-limit   its torque limit is not zero
//	lock           its EEPROM is closed, where it has a lock
//	settings       no settings of a previous owner: direction, limits, protection   doctor_settings.go
//	watchdog       its bus watchdog has not tripped
//	calibration    present, measured, and of this servo or device                doctor_calibration.go
//	drift          the joints at rest are where their calibrations have them
//	load           the driver's cycle fits into the period                       doctor_load.go
//	               an I2C bus or a port of SPI has the time for its devices      doctor_device_load.go
//	line           no other program uses a line of a GPIO chip                         doctor_lines.go
//	estop          the circuit of a stop button is closed
//	output_enable  a board's pulses can be ended independently of the bus
//	device         a device answers, is the model in the config, and measures          doctor_device.go
//	battery        of a base: it has charge for a while                                doctor_base.go
//	alarm          of a device: its value is within below and above
//	camera         it is present, not in use, and supports the config's size and format   doctor_camera.go
//
// Not found by checking a robot at rest: a position with a constant offset, and values that are merely old.

// The states of a finding.
const (
	StateOK   = "ok"
	StateWarn = "warn" // it runs, but not as it should
	StateFail = "fail" // it would not run, or not safely
)

// Finding is one check's result: the finding and its fix.
type Finding struct {
	Check string `json:"check"`
	State string `json:"state"`
	Bus   string `json:"bus"`
	ID    *int   `json:"id"` // null where it is of no single servo
	Joint string `json:"joint"`
	Found string `json:"found"`
	Fix   string `json:"fix"`

	Kind hal.Kind `json:"-"` // the exit code of a failure; not in the row: it is the command's exit code
}

func (f Finding) Cells() report.Cells {
	var id any = "-"
	if f.ID != nil {
		id = *f.ID
	}
	return report.Cells{{"state", f.State}, {"check", f.Check}, {"bus", cmp.Or(f.Bus, "-")}, {"id", id},
		{"joint", cmp.Or(f.Joint, "-")}, {"found", f.Found}, {"fix", cmp.Or(f.Fix, "-")}}
}

// UncalibratedAlone reports whether all faults of err are missing or foreign calibrations, which the doctor reports
// itself.
func UncalibratedAlone(err error) bool {
	var faults configs.Faults
	return errors.As(err, &faults) &&
		!slices.ContainsFunc(faults, func(f configs.Fault) bool { return f.Kind != hal.Uncalibrated })
}

// Examination is one run of the doctor. It writes nothing to any servo.
type Examination struct {
	plan  *plan.Plan
	Root  string                  // contains /sys, /proc and /dev of the machine
	world *assembly.EmulatedWorld // the devices of emulated joints
	// open opens a bus for examination: a real port, or an emulated bus in memory. Tests put other lines here.
	open func(name string, kind configs.BodyKind) (servo.Line, error)
	// hypothetic counts simulated joints as real ones: a config that says "body: sim" may still be the robot on the
	// table, and the doctor must report whether it could be real. In a mixture what is simulated stays so.
	hypothetic bool
	Note       func(format string, args ...any)
	Recorded   *Recorded // of a report that is examined again; nil: this machine
	Dump       func(bus string, f commission.RegisterFile)
	Tamper     func(*assembly.Emulation) // plants faults in emulated devices; tests do
	blur       func(*video.Camera)       // and in cameras
	Found      []Finding
	met        []*ServoCheck // servos that answered and are what they should be
}

// Load prepares the examination of a config, which may lack calibrations: those are findings.
func Load(nameOrPath string, o configs.Options, cat *catalog.Catalog, faults []string) (*Examination, error) {
	p, err := plan.Load(nameOrPath, o, cat)
	if err != nil && !UncalibratedAlone(err) {
		return nil, err
	}
	return NewExamination(p, o.Body, faults)
}

// NewExamination prepares the examination of p. body is what the command line made of every agent, "" for nothing.
func NewExamination(p *plan.Plan, body string, faults []string) (*Examination, error) {
	p, err := p.Stationed()
	if err != nil {
		return nil, err
	}
	d := &Examination{plan: p, Root: assembly.MachineRoot, hypothetic: body == "" && !mixes(p),
		Note: func(string, ...any) {}}
	d.open = d.openBus
	if d.world, err = assembly.EmulateWorld(p); err != nil {
		return nil, err
	}
	for _, text := range faults {
		if err := d.world.Plant(text); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// mixes reports whether a robot of p is real in some of its parts only.
func mixes(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Agents, func(a plan.AgentPlan) bool {
		return a.Config.Has(configs.Real) && a.Config.HasOther(configs.Real)
	})
}

// openBus opens a real port, or an emulated bus in memory, through the plan's tap.
func (d *Examination) openBus(name string, kind configs.BodyKind) (servo.Line, error) {
	open := func() (servo.Line, error) { return d.openPort(name) }
	if kind == configs.Emulated {
		open = d.world.Bus(name).Open
	}
	return d.through(name, kind, open)
}

// through opens a bus through the plan's tap.
func (d *Examination) through(name string, kind configs.BodyKind, open servo.Opener) (servo.Line, error) {
	if d.plan.Tap != nil {
		open = d.plan.Tap(name, kind, open)
	}
	return open()
}

func (d *Examination) openPort(name string) (servo.Line, error) {
	bus := d.plan.Config.Buses[name]
	if t := d.plan.Catalog.Buses.Of(bus.Type); t.Filters != nil {
		return t.PortOpener(&bus, nil)()
	}
	line, err := serial.Open(bus.Port, bus.Baud, bus.SerialBackend)
	if err != nil {
		return nil, err // not a *Line that is nil inside an interface
	}
	return line, line.SetEven(d.plan.Catalog.Buses.Of(bus.Type).Even)
}

// Run examines every bus, its servos, and the whole.
func (d *Examination) Run(ctx context.Context) error {
	examined := 0
	for _, name := range report.SortedKeys(d.plan.Config.Buses) {
		for _, kind := range []configs.BodyKind{configs.Emulated, configs.Real} {
			on := d.On(name, kind)
			if len(on) == 0 {
				continue
			}
			examined += len(on)
			d.Note("bus %s: %d %s servos", name, len(on), kind)
			if err := newBusExam(d, name, kind, on).Run(ctx); err != nil {
				return err
			}
		}
	}
	if err := d.devices(); err != nil {
		return err
	}
	if examined+len(d.plan.Boards)+len(d.plan.Sensors)+len(d.plan.Cameras)+len(d.plan.Used()) == 0 {
		d.Note("all joints are simulated, so no device is checked; omit --body to check them as real devices")
	}
	d.uniform()
	d.misfits()
	d.drift()
	// What must be put right first is read first.
	rank := map[string]int{StateFail: 0, StateWarn: 1, StateOK: 2}
	slices.SortStableFunc(d.Found, func(a, b Finding) int { return rank[a.State] - rank[b.State] })
	return nil
}

// On lists the joints of one kind on a bus.
func (d *Examination) On(bus string, kind configs.BodyKind) []plan.JointRef {
	list := d.plan.On(bus, kind)
	if kind == configs.Real && d.hypothetic {
		list = append(list, d.plan.On(bus, configs.Sim)...)
	}
	return list
}

// Verdict is the error of the worst finding, nil if absent. Warnings alone are an error (hal.Differs) only
// where strict asks for it.
func (d *Examination) Verdict(strict bool) error {
	worst, fails, warns := hal.Unexpected, 0, 0
	for _, f := range d.Found {
		switch f.State {
		case StateWarn:
			warns++
		case StateFail:
			if fails++; worst == hal.Unexpected || gravity(f.Kind) < gravity(worst) {
				worst = f.Kind
			}
		}
	}
	switch {
	case fails > 0:
		return &hal.Error{Kind: worst, Op: "doctor", Err: fmt.Errorf("%d checks failed, %d warn", fails, warns)}
	case warns > 0 && strict:
		return &hal.Error{Kind: hal.Differs, Op: "doctor", Err: fmt.Errorf("%d checks warn", warns)}
	}
	d.Note("ready: %d checks, %d warn", len(d.Found), warns)
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
func (d *Examination) uniform() {
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
			s.warn("firmware", fmt.Sprintf("%s, the other %d %s have %s", s.firmware, count[b], b.model, b.firmware),
				s.firmwareFix())
		}
	}
}

// firmwareFix is the maker's own tool, since no other writes firmware.
func (s *ServoCheck) firmwareFix() string {
	return "bring all to one version with " + s.row.Firmware
}
