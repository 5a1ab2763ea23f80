package doctor

import (
	"context"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/servo"
)

// Recorded is what a report has of a robot beside the traffic of its lines: the findings of the machine, and of what
// has no line. An examination of a report takes them as they are, and looks at nothing of this machine.
type Recorded struct {
	Findings []Finding
	Buses    map[string]RecordedBus // by bus and kind: "arm.real"
}

// RecordedBus is how a line was met.
type RecordedBus struct {
	Opened   bool          `json:"opened"`
	Timed    bool          `json:"timed"`                // its adapter has a latency timer
	Latency  time.Duration `json:"latency_ns,omitempty"` // what an answer may be held back
	Terminal bool          `json:"terminal,omitempty"`   // a program was behind it
	Dropped  int           `json:"dropped,omitempty"`    // requests that the report has not
}

// Bodied is a bus and the kind of its devices.
func Bodied(bus string, kind configs.BodyKind) string { return bus + "." + string(kind) }

// ofMachine lists the checks of the machine's side of a bus.
func ofMachine(check string) bool {
	return slices.Contains([]string{"port", "access", "holder", "conflict", "name", "rate", "latency"}, check)
}

// machine takes the findings of the machine about a bus from the report, and reports whether the bus was to be opened.
func (b *BusCheck) machine() bool {
	open, met := true, b.Recorded.Buses[Bodied(b.Name, b.Kind)]
	for _, f := range b.Recorded.Findings {
		switch {
		case f.Bus != b.Name || !ofMachine(f.Check):
		case met.Opened && f.Check == "port" && f.State == StateFail: // it vanished, and does again
		case f.State == StateOK:
			b.Check(f.Check)
		default:
			b.Found = append(b.Found, f)
			open = open && f.State != StateFail
		}
	}
	return open
}

// reconnect is connect for a line of a report.
func (b *BusCheck) reconnect() bool {
	met := b.Recorded.Buses[Bodied(b.Name, b.Kind)]
	if b.latency = met.Latency; !b.machine() && !met.Opened {
		return false
	}
	line, err := b.open(b.Name, b.Kind)
	if err != nil {
		return false
	}
	b.line = line
	return true
}

// unwired takes the findings from the report that no traffic can repeat: of GPIO chips, cameras and the kernel's PWM,
// and the load of buses whose rate the machine knows.
func (d *Examination) unwired() {
	for _, f := range d.Recorded.Findings {
		t := d.plan.Config.Buses[f.Bus].Type
		chips := t == catalog.I2CBus || t == catalog.SPIBus
		if t == catalog.GPIOBus || f.Bus == "" && (f.Check == "camera" || f.Check == "device" || f.Check == "line") ||
			chips && (f.Check == "load" || f.Check == "output_enable") {
			d.Found = append(d.Found, f)
		}
	}
}

// dump hands the registers of every servo that answers to d.Dump, which reads them all.
func (b *BusCheck) dump(ctx context.Context) error {
	if b.Dump == nil || b.row.Stops {
		return nil
	}
	for _, s := range b.servos {
		tool, err := s.tool, error(nil)
		if b.row.Duplex {
			tool, err = commission.NewTool(b.line, b.row,
				servo.ToolConfig{Bus: b.Name, Latency: b.latency, Model: s.model})
		} else if !s.readable {
			continue
		}
		if err != nil {
			return err
		}
		values, err := commission.ReadAll(ctx, tool, s.model, int(s.id))
		if ctx.Err() != nil {
			return err
		}
		if err != nil { // a finding of its own
			continue
		}
		b.Dump(Bodied(b.Name, b.Kind), commission.RegisterFile{Model: s.model.Units().Name, Type: b.Config.Type,
			ID: int(s.id), Baud: b.Config.Baud, Registers: values})
	}
	return nil
}
