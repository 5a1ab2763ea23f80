package servo

import (
	"errors"
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Probe finds devices. It moves nothing and writes nothing. It blocks for each request's bytes, the reply delay of the
// device, the adapter's latency and Slack. Errors are *hal.Error. hal.Timeout: no reply. hal.BusFault: corrupt reply.
// hal.Invalid: a device that the driver does not support. hal.Absent: adapter disconnected. One goroutine uses a probe.
type Probe interface {
	// List returns the ids of all devices by one request, or by few. It is false if each id must be tried, because the
	// protocol has no such request or because replies collided.
	List() (ids []int, ok bool, err error)
	// Ping's error reports whether a device replies at id.
	Ping(id int) error
	// Identify reads the identity of the device at id.
	Identify(id int) (Found, error)
	// Question is a request to a device of model m, and the expected reply, as far as it is known in advance. Its Ask
	// is nil for devices that have none.
	Question(m Model, id int) Question
	// SetLatency sets how long the adapter may hold back the replies from now on.
	SetLatency(d time.Duration)
}

// Tool reads and writes single devices by the names of their registers. Its errors are those of Probe, and hal.Unsafe
// where a device under torque would have to be written, or one that would be lost. It makes no motor turn.
type Tool interface {
	Probe
	// Read returns a raw value. ErrNoRegister is a register that the device, its firmware or its line does not have.
	Read(id int, register string) (int64, error)
	// Write writes a raw value in the way that the device's memory asks for, and reads it back where it can be.
	Write(id int, register string, v int64) error
	// SetID and SetBaud move a device to another id or rate; where they end without an error the device may be at
	// either place. Its torque must be off.
	SetID(id, to int) error
	SetBaud(id, baud int) error
	// Faults are those that the device reports now.
	Faults(id int) (Report, error)
	// Save makes written values permanent if Write does not. restarts reports that the device starts again for it.
	Save() (restarts bool, err error)
}

// Found is the identity that a device reports.
type Found struct {
	Model    Model  // nil: a device that the driver does not know; only Number is set
	Number   int    // of its model, 0 = not reported
	Firmware string // in the maker's notation, with the minor version if there is one; "" = not reported
	Assumed  bool   // it does not report its model: Model is how it is driven
	Note     string // for a person; "" if empty
}

// Question is a request with a known reply, except for values that change by themselves.
type Question struct {
	Ask, Want []byte
	Same      func(got []byte) bool // of a reply as long as Want: the constant bytes equal those of Want
	Sound     func(got []byte) bool // its checksum is right
}

// ToolConfig describes how a tool communicates. Zero values give the defaults.
type ToolConfig struct {
	Bus      string                 // the line in errors
	Latency  time.Duration          // how long the adapter may hold a reply back
	Model    Model                  // the model assumed for every device; nil: the reported one
	Settings map[int]map[string]int // a config's settings of devices, by id
}

// ToolSpec is a vendor's part of a Tool: its requests. Errors may be bare (ErrNoReply, ErrCorrupt, ErrNoRegister, those
// of the port) or a *hal.Error. A nil function is not supported by the devices.
type ToolSpec struct {
	Exchange *Exchange
	Identify func(id int) (Found, error)
	Ping     func(id int) error // nil = as Identify
	Read     func(id int, m Model, r *Register) (int64, error)
	Write    func(id int, m Model, r *Register, v int64) error // and read back
	List     func() (ids []int, ok bool, err error)
	SetID    func(id int, m Model, to int) error
	SetBaud  func(id int, m Model, baud int) error
	Faults   func(id int, m Model) (Report, error)
	Save     func() (restarts bool, err error)
	Question func(m Model, id int) Question

	// Locked: with torque on, a device accepts a write to its stored settings and moves accordingly. So the tool reads
	// the torque state first.
	Locked bool
}

// client is the Tool of every driver.
type client struct {
	ToolSpec
	cfg   ToolConfig
	known map[int]Model
}

// NewTool returns the tool of a vendor's requests.
func NewTool(cfg ToolConfig, a ToolSpec) Tool {
	a.Exchange.Latency = cfg.Latency
	return &client{ToolSpec: a, cfg: cfg, known: map[int]Model{}}
}

func (c *client) SetLatency(d time.Duration) { c.Exchange.Latency, c.cfg.Latency = d, d }

func (c *client) List() ([]int, bool, error) {
	if c.ToolSpec.List == nil {
		return nil, false, nil
	}
	ids, ok, err := c.ToolSpec.List()
	return ids, ok, c.fault(0, "list", err)
}

func (c *client) Ping(id int) error {
	if c.ToolSpec.Ping == nil {
		_, err := c.Identify(id)
		return err
	}
	return c.fault(id, "ping", c.ToolSpec.Ping(id))
}

func (c *client) Identify(id int) (Found, error) {
	f, err := c.ToolSpec.Identify(id)
	switch {
	case err != nil:
		return f, c.fault(id, "ping", err)
	case f.Model == nil:
		return f, c.refuse(id, "identify", fmt.Errorf("model %d: %w", f.Number, ErrUnknownModel))
	}
	c.known[id] = f.Model
	return f, nil
}

func (c *client) Question(m Model, id int) Question {
	if c.ToolSpec.Question == nil {
		return Question{}
	}
	return c.ToolSpec.Question(m, id)
}

// model is the assumed model of the device at id.
func (c *client) model(id int) (Model, error) {
	if c.cfg.Model != nil {
		return c.cfg.Model, nil
	}
	if m := c.known[id]; m != nil {
		return m, nil
	}
	f, err := c.Identify(id)
	return f.Model, err
}

func (c *client) Read(id int, register string) (int64, error) {
	m, err := c.model(id)
	if err != nil {
		return 0, err
	}
	r := m.Register(register)
	if r == nil || r.Unread {
		return 0, c.refuse(id, "read "+register, ErrNoRegister)
	}
	v, err := c.ToolSpec.Read(id, m, r)
	return v, c.settled(id, "read "+register, err)
}

func (c *client) Write(id int, register string, v int64) error {
	op := "write " + register
	m, err := c.model(id)
	if err != nil {
		return err
	}
	r := m.Register(register)
	if err := r.CheckWrite(m.Units().Name, v); err != nil {
		return c.refuse(id, op, err)
	}
	if c.ToolSpec.Write == nil {
		return c.refuse(id, op, ErrNoRegister)
	}
	if r.Access == EEPROM {
		if err := c.resting(id, op); err != nil {
			return err
		}
	}
	return c.settled(id, op, c.ToolSpec.Write(id, m, r, v))
}

// resting makes sure that the device at id has no torque, where it would not refuse a write under torque itself.
func (c *client) resting(id int, op string) error {
	if !c.Locked {
		return nil
	}
	on, err := c.Read(id, "torque_enable")
	if err == nil && on != 0 {
		err = Error(hal.Unsafe, c.cfg.Bus, id, op, errTorqueOn)
	}
	return err
}

var errTorqueOn = errors.New("torque is on: what is kept is writable only with torque off")

func (c *client) SetID(id, to int) error {
	return c.move(id, "id", to, c.ToolSpec.SetID)
}

func (c *client) SetBaud(id, baud int) error {
	return c.move(id, "baud_rate", baud, c.ToolSpec.SetBaud)
}

func (c *client) move(id int, what string, to int, move func(id int, m Model, to int) error) error {
	if move == nil {
		return c.refuse(id, "set "+what, ErrNoRegister)
	}
	m, err := c.model(id)
	if err != nil {
		return err
	}
	if err := c.resting(id, "set "+what); err != nil {
		return err
	}
	delete(c.known, id)
	return c.settled(id, "set "+what, move(id, m, to))
}

func (c *client) Faults(id int) (Report, error) {
	if c.ToolSpec.Faults == nil {
		return Report{}, nil
	}
	m, err := c.model(id)
	if err != nil {
		return Report{}, err
	}
	r, err := c.ToolSpec.Faults(id, m)
	return r, c.settled(id, "read faults", err)
}

func (c *client) Save() (restarts bool, err error) {
	if c.ToolSpec.Save == nil {
		return false, nil
	}
	restarts, err = c.ToolSpec.Save()
	return restarts, c.fault(0, "save", err)
}

// fault wraps err with its place; nil stays nil.
func (c *client) fault(id int, op string, err error) error {
	if placed, ok := errors.AsType[*hal.Error](err); ok {
		if placed.Bus == "" && placed == err {
			placed.Bus = c.cfg.Bus
		}
		return err
	}
	if errors.Is(err, ErrNoRegister) {
		return c.refuse(id, op, err)
	}
	return Fault(c.cfg.Bus, id, op, err)
}

// refuse is the error of an operation that was refused without a request.
func (c *client) refuse(id int, op string, err error) error {
	return Error(hal.Invalid, c.cfg.Bus, id, op, err)
}

// settled is fault that lets the line fall silent after a reply that did not come in time or was damaged: a reply names
// its device, but not the register, and a late one would be taken for the next request's.
func (c *client) settled(id int, op string, err error) error {
	err = c.fault(id, op, err)
	if kind := hal.KindOf(err); err != nil && (kind == hal.Timeout || kind == hal.BusFault) {
		Settle(c.Exchange.Port, 2*c.cfg.Latency+3*time.Millisecond)
	}
	return err
}

// maxNoiseReads bounds how long Settle waits on a line that never falls silent, reads.
const maxNoiseReads = 100

// Settle waits, within bounds, until no byte has been received for quiet, and discards all bytes.
func Settle(line Port, quiet time.Duration) {
	var scrap [256]byte
	for range maxNoiseReads {
		if _, err := line.Read(scrap[:], quiet); err != nil {
			return // silence, or the line is gone, which the next request reports
		}
	}
}

// Tries is how often a request is sent before silence counts as an answer.
const Tries = 3

// Retry repeats a request that may have been lost on the line.
func Retry(try func() error) error {
	var err error
	for range Tries {
		if err = try(); hal.KindOf(err) != hal.Timeout && hal.KindOf(err) != hal.BusFault {
			break
		}
	}
	return err
}
