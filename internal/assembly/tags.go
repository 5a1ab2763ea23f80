package assembly

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/rfid"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/emulator/reader"
)

// asReader is as which sensors of a robot a reader of tags may serve.
func asReader() map[string]int { return map[string]int{"rfid": 0, "victim": 0} }

// readerKinds are the readers of tags.
func readerKinds() map[string]*sensorKind {
	return map[string]*sensorKind{
		"rdm6300": {Buses: []string{SerialBus}, Baud: rfid.RDM6300Baud, values: 1, First: asReader(), Reads: true,
			Open: func(e End, _ *SensorPlan) (drivers.Sensor, error) { return rfid.NewRDM6300(e.Name, e.Open), nil },
			Emulate: func(*SensorPlan) emulatedDevice {
				r := &reader.RDM6300{}
				return emulatedDevice{speaks: r, Feel: func(t *GroundTruth) { r.Tags = t.Tags.Now() }}
			}},
		"pn532": {Buses: []string{I2cBus, SerialBus}, Addresses: []int{rfid.PN532Address}, Baud: rfid.PN532Baud, values: 1, First: asReader(), Reads: true,
			Open: func(e End, _ *SensorPlan) (drivers.Sensor, error) {
				if e.Open != nil {
					return rfid.NewPN532(e.Name, e.Open), nil
				}
				return rfid.NewPN532I2C(e.Bus, e.Clock), nil
			},
			Emulate: func(*SensorPlan) emulatedDevice {
				r := &reader.PN532{}
				return emulatedDevice{Device: r, Feel: func(t *GroundTruth) { r.Tags = t.Tags.Now() }}
			}},
	}
}

// Field is which tags stand around a simulated reader: what the scene has found of late. A tag that answers once alone
// stands there for as long as a device needs to read it.
type Field struct {
	GroundTruth *GroundTruth
	Held        []uint32 // before the reader of no simulated sensor, by somebody's hand
	list        []standing
	tags        []uint32
}

type standing struct {
	tag   uint32
	away  float64 // m
	until time.Duration
}

// Dwell is longer than two looks of any reader at its field.
const Dwell = 150 * time.Millisecond

// field lets the simulated sensors that p is fill one. A robot that is not simulated, or a monitor, has an empty one.
func (b *Builder) field(p *SensorPlan, t *GroundTruth) *Field {
	f := &Field{GroundTruth: t}
	body, ok := b.Simulated(p.Agent).(*sim.Body)
	for _, u := range p.Uses {
		if i := SensorIndex(t.layout, u.sensor); ok && i != hal.None {
			// Refused where somebody listens already: then the field stays empty, which shows.
			_ = body.Listen(i, f.Find)
		}
	}
	return f
}

// Find takes what the scene has found, in the goroutine of the cycle.
func (f *Field) Find(found sim.Found) {
	at := found.At
	s := standing{tag: uint32(found.Tag), away: math.Sqrt(at[0]*at[0] + at[1]*at[1] + at[2]*at[2]), until: f.GroundTruth.Frame.Time + Dwell}
	if i := slices.IndexFunc(f.list, func(have standing) bool { return have.tag == s.tag }); i >= 0 {
		f.list[i] = s
	} else {
		f.list = append(f.list, s)
	}
}

// Now are the tags that stand there now, the nearest first; it holds until the next call.
func (f *Field) Now() []uint32 {
	f.list = slices.DeleteFunc(f.list, func(s standing) bool { return s.until < f.GroundTruth.Frame.Time })
	slices.SortFunc(f.list, func(a, b standing) int { return cmp.Or(cmp.Compare(a.away, b.away), cmp.Compare(a.tag, b.tag)) })
	f.tags = append(f.tags[:0], f.Held...)
	for _, s := range f.list {
		f.tags = append(f.tags, s.tag)
	}
	return f.tags
}

// Tagged is a source that reads tags: a drivers.Poller of a drivers.Reader.
type Tagged interface{ Listen(f func(tag int)) bool }

// Listen lets the readers of agent i that are devices tell a client of r what they read, in the place of the scene. A
// reader knows a tag's number alone: not how far away it is, and neither the name nor the state of a victim.
func (sys *System) Listen(i int, r *gamebots.Robot) {
	for k := range r.Sensors {
		s := &r.Sensors[k]
		source, ok := sys.Sources[JointRef{i, s.Index}].(Tagged)
		if !ok {
			continue
		}
		hits := &gamebots.Hits{}
		if source.Listen(func(tag int) { hits.Put(gamebots.Hit{Tag: tag, ID: strconv.Itoa(tag), State: "None"}) }) {
			s.Hits = hits
		}
	}
}
