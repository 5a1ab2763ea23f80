package servo

import (
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Port is one half-duplex line. One goroutine owns it; no method is safe for concurrent use.
type Port interface {
	// Write passes p to the line and returns; it does not wait until the bytes are sent.
	Write(p []byte) (int, error)
	// Read waits for at least one byte and returns the available bytes, at most len(p). Without a byte within timeout
	// it returns 0 and an error that is os.ErrDeadlineExceeded. An unplugged adapter is an error that is
	// ErrDisconnected.
	Read(p []byte, timeout time.Duration) (int, error)
	// Discard drops all received and unread bytes.
	Discard() error
	// Now is the line's clock: the wall's on a device, virtual in memory, where waiting costs no real time.
	Now() time.Duration
	// Baud is the line's rate, bits a second.
	Baud() int
}

// Line is a Port that its holder may re-tune and close.
type Line interface {
	Port
	SetBaud(baud int) error
	Close() error
}

// Opener opens a line again after it was lost, found by its stable name. It blocks briefly and returns an error of
// kind hal.Absent or hal.Busy while the adapter is not to be had.
type Opener func() (Line, error)

// Goal is the command of one servo. The zero Goal switches torque off.
type Goal struct {
	Enable   bool     // torque; false has torque off
	Mode     hal.Mode // hal.NoMode: hold the present position
	Position float64  // ticks, in the servo's own numbering; rounded by the chain
	Velocity float64  // rad/s of the output shaft, counted as the ticks are
	Effort   float64  // A where Model.Current, else share of stall torque -1..1; counted as the ticks are
	Duty     float64  // -1..1
	Low      float64  // ticks; position goals stay within Low..High where Low < High, also those of the chain's own
	High     float64
	Limit    float64 // share of the maximum effort, 0..1; 0 = torque off
	// Gains are the position control's P, I and D in the units of their registers (Units.Gains), where Tuned; else they
	// stay. A chain writes a few registers a cycle, until all are written.
	Gains [3]float64
	Tuned bool
}

// State is the feedback of one servo. NaN means not measured or not received yet.
type State struct {
	Position float64 // ticks
	Velocity float64 // rad/s, counted as the ticks are
	Effort   float64 // A where Model.Current, else share of stall torque
	Ceiling  float64 // the device's own effort limit as it was met, in Effort's unit: ours are not above it
	Homing   float64 // ticks, its own zero offset as read at Open; NaN = it has none, or it was not read
	// torque that it had at Open is left on until Enable, Halt or CutTorque: it holds near its goal
	Kept        bool
	Voltage     float64       // V
	Temperature float64       // °C
	Time        time.Duration // the line's clock when the values came; < 0 = never
	// Delay is by how much the values are older than those of a line that has an exchange in each cycle.
	Delay  time.Duration
	Report           // its faults: our classes, the vendor's names, what its maker says to do
	Drive  hal.Drive // whether it follows its goals, as of the last Send
	Torque bool      // the servo has torque on, as far as known
	Err    error     // why the values are no newer; nil = they are of the last cycle
	// why it has no torque though it was commanded on, until Enable has been false once; nil = it has torque
	Inhibit error
}

// Alarm is a set of alarms, the same bits for every vendor.
type Alarm uint16

// The alarms.
const (
	AlarmVoltage Alarm = 1 << iota
	AlarmHeat
	AlarmOverload
	AlarmShock   // electrical: over-current, bridge, current sensor; also a fault whose class is not known
	AlarmEncoder // encoder or angle
	AlarmRange   // a limit was hit by a command
)

// Units are the units and ranges of a chain's raw values, for calibration.
type Units struct {
	Name         string  // the model's name, as configs have it
	TicksPerTurn float64 // of the output shaft, also where less than a turn can be measured
	CentreTicks  float64 // the default tick of zero
	MinTicks     float64 // range of the position mode
	MaxTicks     float64 // likewise
	MaxVelocity  float64 // no-load speed at the nominal voltage, rad/s
	// N·m of the output shaft a unit of Effort, by the data sheet: an A where Current, else the whole supply
	TorqueConstant float64
	// N·m/rad, N·m/(rad·s) and N·m·s/rad of the shaft a unit of Goal.Gains; 0 = that one cannot be set
	Gains        [3]float64
	MaxEffort    float64            // the effort of Limit = 1: A where Current, else 1
	Current      bool               // Effort is a current
	NominalVolts float64            // V, supply voltage of the speed and torque values
	Modes        [hal.NumModes]bool // supported modes
}

// Chain drives all servos of one line: one write and, where the bus can, one read a cycle. It is a hal.Bus.
// SetGoal and State take the index of a servo in the order of the chain's construction; they do no I/O.
type Chain interface {
	hal.Bus
	// Open checks that every servo replies, replies once and is the configured model, and prepares it. It moves nothing
	// and switches no torque on. It returns all faults together.
	Open() error
	Units(i int) Units
	SetGoal(i int, g Goal)
	State(i int) *State
	// Halt switches every servo's torque off and returns one error a servo that did not acknowledge, nil for the rest.
	Halt() []error
}
