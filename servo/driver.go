package servo

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Driver drives servos or motor controllers of one bus type of a config. A vendor's folder has its drivers in
// driver.go, the emulation's folder the emulated devices, and a row of the catalog names both. No other part of the
// program names a vendor.
type Driver interface {
	// Traits are the facts that scanning, setup and examination follow.
	Traits() *Traits
	// Models are all models that the driver knows. The slice is the caller's, the models are not.
	Models() []Model
	// Chain returns a chain; nothing is sent until Chain.Open, which also reports faults of cfg.
	Chain(cfg ChainConfig) LineChain
	// Tool returns a tool for single devices of line, which stays the caller's.
	Tool(line Line, cfg ToolConfig) Tool
}

// LineChain is a Chain that owns its line.
type LineChain interface {
	Chain
	Close() error // the line's; torque stays as it is: Halt first
	Stats() Stats
	Inline() // a lost line may be opened within the cycle, for lines in memory
}

// Model is one model of a driver: its registers and the units of a chain's values. It is read-only.
type Model interface {
	Units() Units
	// Table lists the registers that a Tool supports, in order. It is read-only.
	Table() []Register
	// Register is the row of Table called name, nil if absent. Setting is a register that a config may set at
	// each start, and that ServoConfig.Settings may name; not all of them are rows of Table.
	Register(name string) *Register
	Setting(name string) *Register
	// BaudCode is the value of the baud rate register for a rate in bit/s; false where the model cannot be set to it.
	BaudCode(rate int) (code byte, ok bool)
	// Meaning explains a raw value of r if its unit does not: an alarm's name, a rate; else "".
	Meaning(r *Register, raw int64) string
}

// ChainConfig describes all devices of one line. Zero values give the defaults.
type ChainConfig struct {
	Name    string // the bus in errors
	Servos  []ServoConfig
	Line    Line          // owned by the chain from its construction on; an echo is filtered out of it already
	Reopen  Opener        // how to open the line again after it was lost; nil = never
	Period  time.Duration // of the cycle; bounds the time for lost devices in one cycle. 0 = no bound
	Latency time.Duration // how long the adapter may hold a reply back (FTDI: its latency timer)

	// Health is the number of cycles from one reading of a device's switches and health to the next; each reads one
	// device in turn. 0 = healthInterval, below 0 = only where something has changed.
	Health int
	// Watchdog is the time without a goal after which a device stops by itself, where the chain sets it. 0 = the
	// driver's own choice, below 0 = off.
	Watchdog time.Duration
	// Reading is the best way of reading that the chain may use. PositionOnly leaves out velocity and effort where that
	// makes replies shorter: they stay NaN.
	Reading      Level
	PositionOnly bool
	// Paced is of a line in memory, whose transfers cost time of its own clock only: one that takes longer than Period
	// occupies the line for the cycles that it lasts. Nothing is sent in them, and States are those before.
	Paced bool
	// Spans is of a real line: one whose exchanges take longer than Period has its own rate; see GenericChain.Pace.
	// With Inside, of a recording, such an exchange runs in its last cycle, in the caller's goroutine.
	Spans, Inside bool
}

// ServoConfig is one device of a chain.
type ServoConfig struct {
	ID           byte
	Model        Model
	Joint        string    // named in errors; may be empty
	Velocity     float64   // maximum speed of a position goal, rad/s; 0 = the device's own
	Acceleration float64   // rad/s²; 0 = no bound
	Settings     []Setting // written before torque is switched on, again after every loss of power; see Model.Setting
	Calibrated   bool      // a calibration depends on the device's zero
}

// Traits are facts of a driver.
type Traits struct {
	Type   string // of a config's bus
	Vendor string // its name in sentences

	// Firmwares are the least and the greatest version that its emulation knows, Quirks what it may do otherwise; nil =
	// there is one version.
	Firmwares [2][]int
	Quirks    []string

	// Addresses and rates.
	LastID int           // maximum id of a device
	Slot   time.Duration // Tool.List waits this long for each id; 0 = it does not
	// Roll is a packet to which all devices reply; nil = there is none. RollSlot is the time that each id has for its
	// reply at a rate, one after the other; 0 = all at once. RollIDs are the ids in the replies; sound: they have no
	// other bytes.
	Roll     []byte
	RollSlot func(baud int) time.Duration
	RollIDs  func(got []byte) (ids []int, sound bool)
	Bauds    []int // rates in bit/s at which devices are known to be, the factory's first
	MaxBaud  int   // and every rate up to this one; 0 = only those of Bauds and of the models

	// The line.
	Even      bool                         // bytes have an even parity bit
	Duplex    bool                         // receiver and transmitter are apart: there is no echo
	Filters   func(ids []byte) []CANFilter // frames of a CAN bus that are for this program; nil = a serial line
	ReadsFast func(m Model) bool           // m supports FastReads; nil = the protocol has none
	// drivers with the same word have the same packets: devices of one reply to pings of the other
	Packets string
	// Explain is the packets in data in words, in the order on the line; bytes that are no sound packet are left out.
	// host: they are the host's; else they are replies to asked, the host's bytes before. model is nil of an unknown
	// id. nil = not explained.
	Explain func(asked, data []byte, host bool, model func(id int) Model) []string
	FreeID  bool // an id may be changed under torque
	Alone   bool // its devices may execute the packets of other drivers: the line carries no others
	Both    bool // "both" names it: one of two protocols that share a line
	Named   bool // it is scanned for only where it is named
	Stops   bool // a request for the state also commands a stop
	// Releases is by which of its timeouts a device releases its motor once its host is silent; "" = it holds.
	Releases string

	// Examination and setup.
	Checks []Check
	// settings of a config without which it is not known whether a device stops when its cable is pulled
	Guard      []string
	GuardFix   string                // how to set them
	Firmware   string                // the maker's tool that writes firmware
	Same       func(a, b Model) bool // devices of a and b report the same identity; nil = never
	Unnamed    Model                 // the model assumed for devices that do not report one, if it is not in Models
	NoDefaults bool                  // the factory defaults depend on the firmware
	FixedIDs   *Refusal              // why Tool.SetID always fails; nil = it does not
	FixedAll   *Refusal              // why every write fails; nil = they do not
	IDRegister string                // register that takes a new id in place of Tool.SetID; "" = none

	// Benchmarks and the fault matrix.
	Samples    []string // representative models
	Benchmarks []Benchmark
	Foreign    func(id byte) []byte // a sound reply of a device that was not asked
	OneSupply  bool                 // its devices lose their power together
	Chained    bool                 // the second device is reached through the first
	Published  *Published
	Exact      bool   // a damaged reply does not pass as sound: its checksum is long enough
	Unproven   string // why a damaged packet may pass as sound; "" = a checksum finds it
}

// Check is a rule for one register of a device at rest, in addition to those of every device.
type Check struct {
	Name     string // of the check: "lock"
	Register string
	Bad      int64  // the value that is a finding
	Found    string // its meaning
	Fix      string
}

// Refusal is why a driver cannot do something, and where it is done instead.
type Refusal struct{ Why, Try string }

// Error is the refusal of op on one device, of kind hal.Invalid. An N in Try is the new id that was wanted.
func (r *Refusal) Error(bus string, id int, op string, n int) error {
	return &hal.Error{Kind: hal.Invalid, Bus: bus, ID: id, Op: op, Err: errors.New(r.Why),
		Try: newID.ReplaceAllString(r.Try, strconv.Itoa(n))}
}

var newID = regexp.MustCompile(`\bN\b`)

// CANFilter passes frames with an id equal to ID in the bits of Mask. ExtendedCAN is a bit of both, for ids of 29 bits.
type CANFilter struct{ ID, Mask uint32 }

// ExtendedCAN marks an extended id in a CANFilter.
const ExtendedCAN = canExtended

// FindModel returns the model of d called name, nil if absent.
func FindModel(d Driver, name string) Model {
	for _, m := range d.Models() {
		if m.Units().Name == name {
			return m
		}
	}
	return nil
}

// Supports reports whether devices of d can be at a rate in bit/s.
func Supports(d Driver, baud int) bool {
	t := d.Traits()
	return baud > 0 && baud <= t.MaxBaud || slices.Contains(t.Bauds, baud) ||
		slices.ContainsFunc(d.Models(), func(m Model) bool {
			_, ok := m.BaudCode(baud)
			return ok
		})
}

// Find returns the first element of list for which is is true, else nil.
func Find[T any](list []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i]
	}
	return nil
}
