package vesc

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/vescwire"
	"github.com/halyard-robotics/halyard/servo"
)

type driver struct{}

// Driver is the driver of VESC controllers on a serial line, bus type "vesc".
func Driver() servo.Driver { return driver{} }

func (driver) Traits() *servo.Traits {
	fixed := &servo.Refusal{Why: "a VESC keeps its configuration as one block of bytes whose layout differs between " +
		"firmware versions",
		Try: "VESC Tool: App Settings, General has its id and timeout, Motor Settings its limits"}
	t := &servo.Traits{
		Firmwares: [2][]int{{3, 0}, {7, 255}},
		Type:      "vesc", Vendor: "VESC", LastID: vescwire.LastID, Bauds: []int{Baud}, MaxBaud: math.MaxInt32,
		Duplex: true,
		Named:  true, NoDefaults: true, Chained: true, Releases: "VESC, its timeout",
		Unnamed: unnamed, FixedIDs: fixed, FixedAll: fixed, Samples: []string{"vesc-4"}, Explain: explain,
		Foreign: func(id byte) []byte {
			mask := vescwire.Mask(vescwire.ERPM, vescwire.Volts, vescwire.TachoAbs, vescwire.FaultCode, vescwire.PosNow,
				vescwire.ControllerID)
			v := vescwire.Values{vescwire.Volts: 24, vescwire.TachoAbs: 1234, vescwire.PosNow: 180,
				vescwire.ControllerID: float64(id)}
			return vescwire.AppendPacket(nil, v.Append(vescwire.AppendSelective(nil, mask), mask))
		},
	}
	for _, baud := range []int{115_200, 1_000_000} {
		t.Benchmarks = append(t.Benchmarks, servo.Benchmark{Model: "vesc-6", Bauds: []int{baud},
			Counts: []int{1, 2, 4, 6, 12}, Bound: bound, First: 1})
	}
	return t
}

// unnamed is a controller with an unknown motor: one does not report its model.
var unnamed = &Model{Name: "vesc"}

// bound is the time of n controllers on a line: that of its bytes, or of the CAN bus behind it where that is longer,
// with a goal on the line before it has something to do and a reply there behind it. 10 bytes of goal and 10 of request
// to the first, 12 and 12 to the others; all reply 32, which overlaps the requests to all but one.
func bound(n, baud int, _ time.Duration) time.Duration {
	// Bits of an extended frame of 8 bytes from its start to the earliest start of the next, without stuffing (ISO
	// 11898-1). Behind the first a cycle is a goal and a request, 7 bytes of data in a frame each, and a reply of 27
	// bytes in 3 frames of 8 bytes and 1 of 7, and a final one of 6 (bldc, comm_can_send_buffer).
	const frame = 131
	const behind = (2*(frame-8) + 3*frame + (frame - 8) + (frame - 16)) * time.Second / 500_000
	line := servo.WireTime(20+32+(12+32)*(n-1), bitsPerByte, baud)
	if n == 1 {
		return line
	}
	return max(line, servo.WireTime(12+32, bitsPerByte, baud)+time.Duration(n-1)*behind)
}

func (driver) Models() []servo.Model { return servo.ModelsOf(catalogue) }

func (driver) Chain(cfg servo.ChainConfig) servo.LineChain { return NewChain(cfg) }

// Table lists the values that a controller reports, all read-only.
func (m *Model) Table() []servo.Register { return Parameters() }

// Register returns a row of Table.
func (m *Model) Register(name string) *servo.Register { return servo.Named(Parameters(), name) }

// Setting is nil: a controller keeps its settings for VESC Tool.
func (m *Model) Setting(string) *servo.Register { return nil }

// Meaning names faults.
func (m *Model) Meaning(r *servo.Register, raw int64) string {
	if r.Name == "errors" {
		return vescwire.Fault(raw).String()
	}
	return ""
}

// tool is the servo.ToolSpec of VESC controllers.
type tool struct{ *link }

// Tool returns a tool for the controllers of a line. A controller does not report its model.
func (driver) Tool(line servo.Line, cfg servo.ToolConfig) servo.Tool {
	t := tool{newLink(servo.NewExchange(line, bitsPerByte, 4*vescwire.MaxPacket, 2*vescwire.MaxPacket))}
	return servo.NewTool(cfg, servo.ToolSpec{Exchange: t.Exchange, Identify: t.report, Read: t.read, List: t.list,
		Faults: t.faults})
}

// report reads the identity of controller id, at the line's end or behind it.
func (t tool) report(id int) (servo.Found, error) {
	if err := t.find(); err != nil {
		return servo.Found{}, err
	}
	found, err := t.identify(id)
	if err != nil {
		return servo.Found{}, err
	}
	v, err := t.measure(id, vescwire.Mask(vescwire.Volts, vescwire.FaultCode, vescwire.ControllerID))
	if err != nil {
		return servo.Found{}, err
	}
	return servo.Found{Model: unnamed, Firmware: fmt.Sprintf("%d.%02d", found.major, found.minor), Assumed: true,
		Note: fmt.Sprintf("VESC firmware %d.%02d on %s: %d pole pairs, timeout %v, %v", found.major, found.minor,
			found.hardware, found.poles/2, found.timeout, vescwire.Fault(v[vescwire.FaultCode]))}, nil
}

// list are the controller at the line's end and those that it finds behind it, which takes it up to 2.6 s. Firmware
// before 3.57 does not list.
func (t tool) list() (ids []int, ok bool, err error) {
	err = t.find()
	old, isOld := errors.AsType[oldFirmware](err)
	switch {
	case errors.Is(err, servo.ErrNoReply):
		return nil, true, nil
	case isOld:
		return nil, false, &hal.Error{Kind: hal.Invalid, Op: "list", Err: old, Try: updateFirmware}
	case err != nil:
		return nil, false, err
	}
	// Firmware waits 10 ms for each of 254 ids (bldc, comm_can_ping).
	const pingTime = 4 * time.Second
	t.Latency += pingTime
	defer func() { t.Latency -= pingTime }()
	t.put(t.first, []byte{byte(vescwire.PingCAN)})
	p, err := t.askPing()
	ids = []int{t.first}
	for _, id := range p {
		ids = append(ids, int(id))
	}
	if errors.Is(err, servo.ErrNoReply) { // it lists none
		err = nil
	}
	return ids, err == nil, err
}

// faults reads the fault of controller id.
func (t tool) faults(id int, _ servo.Model) (servo.Report, error) {
	if err := t.find(); err != nil {
		return servo.Report{}, err
	}
	v, err := t.measure(id, vescwire.Mask(vescwire.FaultCode, vescwire.ControllerID))
	if err != nil {
		return servo.Report{}, err
	}
	return vescwire.Fault(v[vescwire.FaultCode]).Report(), nil
}

func (t tool) read(id int, _ servo.Model, r *servo.Register) (int64, error) {
	if err := t.find(); err != nil {
		return 0, err
	}
	if r.Addr >= uint16(vescwire.NumFields) {
		found, err := t.identify(id)
		switch r.Addr {
		case uint16(rowFirmware):
			return 100*int64(found.major) + int64(found.minor), err
		case uint16(rowPolePairs):
			return int64(found.poles / 2), err
		}
		return found.timeout.Milliseconds(), err
	}
	f := vescwire.Field(r.Addr)
	v, err := t.measure(id, vescwire.Mask(f, vescwire.ControllerID))
	if err != nil {
		return 0, err
	}
	if math.IsNaN(v[f]) {
		return 0, servo.ErrCorrupt
	}
	return int64(math.Round(v[f] * vescwire.Fields[f].Scale)), nil
}
