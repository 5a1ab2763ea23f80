package catalog

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/rfid"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/emulator/reader"
)

// asReader is as which sensors of a robot a reader of tags may serve.
func asReader() map[string]int { return map[string]int{"rfid": 0, "victim": 0} }

// readerKinds are the readers of tags.
func readerKinds() map[string]*SensorKind {
	return map[string]*SensorKind{
		"rdm6300": {Buses: []string{SerialBus}, Baud: rfid.RDM6300Baud, Values: 1, First: asReader(), Reads: true,
			Open: func(e Connection, _ *SensorPlan) (drivers.Sensor,
				error) {
				return rfid.NewRDM6300(e.Name, e.Open), nil
			},
			Emulate: func(*SensorPlan) Emulation {
				r := &reader.RDM6300{}
				return Emulation{Board: r, Feel: func(t *GroundTruth) { r.Tags = t.Tags.Now() }}
			}},
		"pn532": {Buses: []string{I2CBus, SerialBus}, Addresses: []int{rfid.PN532Address}, Baud: rfid.PN532Baud,
			Values: 1, First: asReader(), Reads: true,
			Open: func(e Connection, _ *SensorPlan) (drivers.Sensor, error) {
				if e.Open != nil {
					return rfid.NewPN532(e.Name, e.Open), nil
				}
				return rfid.NewPN532I2C(e.Bus, e.Clock), nil
			},
			Emulate: func(*SensorPlan) Emulation {
				r := &reader.PN532{}
				return Emulation{Device: r, Feel: func(t *GroundTruth) { r.Tags = t.Tags.Now() }}
			}},
	}
}

// Field is the tags around a simulated reader, by the scene's last query. A tag that answers only once
// is there for as long as a device needs to read it.
type Field struct {
	GroundTruth *GroundTruth
	Held        []uint32 // held before a reader without a simulated sensor
	list        []fieldTag
	tags        []uint32
}

type fieldTag struct {
	tag   uint32
	away  float64 // m
	until time.Duration
}

// Dwell is longer than two reading periods of any reader.
const Dwell = 150 * time.Millisecond

// Find stores a tag found by the scene. It is called in the goroutine of the cycle.
func (f *Field) Find(found sim.Found) {
	at := found.At
	s := fieldTag{tag: uint32(found.Tag), away: math.Sqrt(at[0]*at[0] + at[1]*at[1] + at[2]*at[2]),
		until: f.GroundTruth.Frame.Time + Dwell}
	if i := slices.IndexFunc(f.list, func(have fieldTag) bool { return have.tag == s.tag }); i >= 0 {
		f.list[i] = s
	} else {
		f.list = append(f.list, s)
	}
}

// Now are the present tags, the nearest first; it holds until the next call.
func (f *Field) Now() []uint32 {
	f.list = slices.DeleteFunc(f.list, func(s fieldTag) bool { return s.until < f.GroundTruth.Frame.Time })
	slices.SortFunc(f.list, func(a, b fieldTag) int {
		return cmp.Or(cmp.Compare(a.away, b.away), cmp.Compare(a.tag, b.tag))
	})
	f.tags = append(f.tags[:0], f.Held...)
	for _, s := range f.list {
		f.tags = append(f.tags, s.tag)
	}
	return f.tags
}

// Tagged is a source that reads tags: a drivers.Poller of a drivers.Reader.
type Tagged interface{ Listen(f func(tag int)) bool }
