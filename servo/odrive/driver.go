package odrive

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/servo"
)

type driver struct{ can bool }

// Driver is the driver of a controller's axes on a serial line, bus type "odrive"; CANDriver that of nodes on a CAN
// bus, bus type "odrive-can".
func Driver() servo.Driver    { return driver{} }
func CANDriver() servo.Driver { return driver{can: true} }

// Bits of frames on a CAN bus from the start of one to the earliest start of the next, without stuffing (ISO 11898-1):
// of 8 bytes, and of a remote frame.
const (
	bareFrame = 111
	bareAsk   = 47
)

func (d driver) Traits() *servo.Traits {
	few := []int{1, 2, 4, 6, 12}
	if !d.can {
		wire := servo.CycleBytes{Bits: bitsPerByte, Bytes: cycleBytes}
		return &servo.Traits{
			Firmwares: [2][]int{{0, 4, 0}, {0, 6, 255}}, Quirks: []string{"no_line_end"},
			Type: "odrive", Vendor: "ODrive", LastID: 1, Bauds: []int{Baud}, MaxBaud: math.MaxInt32, Duplex: true,
			Named: true, NoDefaults: true, OneSupply: true, Releases: "ODrive, watchdog of 0.5 s",
			IDRegister: "can_node_id", Samples: []string{"odrive-v3"}, Explain: explain,
			Unproven: "bytes lost in pairs pass the checksum, and a command that lost its asterisk has none",
			// A controller has two axes.
			Benchmarks: []servo.Benchmark{{Model: "odrive-v3", Bauds: []int{115_200, 921_600}, Counts: few[:2],
				Bound: wire.Bound}},
		}
	}
	// A goal, two requests and two replies each.
	wire := servo.CycleBytes{Bits: 3*bareFrame + 2*bareAsk, Bytes: func(n int) int { return n }}
	var settings []servo.Setting
	for _, r := range endpoints {
		settings = append(settings, servo.Setting{Register: r.Name, Value: int64(usualEndpoint + r.Addr/2)})
	}
	return &servo.Traits{
		Type: "odrive-can", Vendor: "ODrive", LastID: odrivewire.LastNode, Bauds: []int{Bitrate},
		MaxBaud: math.MaxInt32,
		Duplex:  true, Named: true, NoDefaults: true, Releases: "ODrive, watchdog where it is set",
		// A node's id is the upper six bits.
		Filters: func(ids []byte) (list []servo.CANFilter) {
			for _, id := range ids {
				list = append(list, servo.CANFilter{ID: uint32(id) << 5, Mask: servo.ExtendedCAN | 0x3F<<5})
			}
			return list
		},
		Guard: []string{watchdogEndpoint, enableEndpoint},
		GuardFix: "registers: {watchdog_endpoint: N, enable_endpoint: N} by its " +
			"firmware's flat_endpoints.json; or odrivetool: axis0.config.enable_watchdog = True, watchdog_timeout = " +
			"0.5, save_configuration()",
		FixedIDs: &servo.Refusal{Why: "which endpoint of an ODrive is its node id depends on its firmware",
			Try: "odrivetool: odrv0.axis0.config.can.node_id = N, odrv0.save_configuration(); or its serial line: " +
				"halyard setup PORT --protocol odrive --id 0 --new-id N"},
		Samples: []string{"odrive-s1"}, Explain: explainCAN,
		Benchmarks: []servo.Benchmark{{Model: "odrive-s1", Settings: settings,
			Bauds: []int{250_000, 500_000, 1_000_000}, Counts: []int{1, 4, 6, 12},
			Bound: wire.Bound, First: 1}},
		Foreign: servo.ForeignCAN,
	}
}

// usualEndpoint is where flat_endpoints.json of an emulated axis has its watchdog.
const usualEndpoint = 200

// cycleBytes are those of a cycle of n axes of the ASCII protocol with the goals that the benchmark sets: a goal, a
// request, a reply.
func cycleBytes(n int) int {
	goals := len(odrivewire.AppendSet(nil, 'p', 0, 0, 0, 0)) +
		len(odrivewire.AppendSet(nil, 'p', 0, 1/TicksPerTurn, 0, 0))
	return n * (goals/2 + len(odrivewire.AppendSet(nil, 'f', 0)) +
		len(odrivewire.AppendAnswer(nil, []byte("0 0"), true)))
}

func (d driver) Models() []servo.Model {
	all := servo.ModelsOf(catalogue)
	for i := range all {
		all[i] = d.model(catalogue[i])
	}
	return all
}

// model is m with the registers of the driver's line.
func (d driver) model(m *Model) servo.Model {
	if d.can {
		return node{m}
	}
	return m
}

// node is a model on a CAN bus.
type node struct{ *Model }

// Table lists the values with a CANSimple frame, and the watchdog.
func (node) Table() []servo.Register { return CANParameters() }

// Register returns a row of Table.
func (n node) Register(name string) *servo.Register { return servo.Named(n.Table(), name) }

// Setting returns the number of an endpoint.
func (n node) Setting(name string) *servo.Register { return servo.Named(n.Endpoints, name) }

// ModelIn is the model in a config, nil where it is another vendor's.
func ModelIn(m servo.Model) *Model {
	switch m := m.(type) {
	case *Model:
		return m
	case node:
		return m.Model
	}
	return nil
}

// Table lists the values of an axis that the ASCII protocol reads and writes.
func (m *Model) Table() []servo.Register { return Parameters() }

// Register returns a row of Table.
func (m *Model) Register(name string) *servo.Register { return servo.Named(Parameters(), name) }

// Setting is nil: a controller on a serial line keeps its settings.
func (m *Model) Setting(string) *servo.Register { return nil }

// Meaning names errors: alarms, and the expired watchdog, which is not an alarm.
func (m *Model) Meaning(r *servo.Register, raw int64) string {
	if r.Name != "errors" {
		return ""
	}
	d := odrivewire.V06
	if m.Axes > 1 { // v3 has firmware 0.5
		d = odrivewire.V05
	}
	w := odrivewire.ErrorWords{odrivewire.AxisPart: uint64(raw)}
	return w.Report(d).String()
}

func (d driver) Chain(cfg servo.ChainConfig) servo.LineChain {
	if d.can {
		return NewCANChain(cfg)
	}
	return NewSerialChain(cfg)
}

// Tool returns a tool for single axes.
func (d driver) Tool(line servo.Line, cfg servo.ToolConfig) servo.Tool {
	if d.can {
		return newCANTool(line, cfg)
	}
	return newTool(line, cfg)
}

const motorNote = "a motor controller; it does not report its motor"

// hardware is the model with a major version of hardware.
func (d driver) hardware(v float64, wants string) (servo.Found, error) {
	m := modelOf(v)
	if m == nil {
		return servo.Found{}, refusal(fmt.Errorf("hardware: got %g, want %s", v, wants))
	}
	return servo.Found{Model: d.model(m), Assumed: true, Note: motorNote}, nil
}
