package feetech

import (
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/feetechwire"
	"github.com/halyard-robotics/halyard/servo"
)

type driver struct{}

// Driver is the driver of STS, SMS, HLS and SCS servos, bus type "feetech".
func Driver() servo.Driver { return driver{} }

func (driver) Traits() *servo.Traits {
	t := &servo.Traits{
		Firmwares: [2][]int{{1, 0}, {3, 59}}, Quirks: []string{"no_broadcast_ping"},
		Type: "feetech", Vendor: "Feetech", LastID: feetechwire.LastID, Packets: "ff ff id len",
		Firmware: "Feetech's FD",
		Checks: []servo.Check{{Name: "lock", Register: "lock", Bad: 0,
			Found: "its EEPROM is unlocked: every write to it is permanent",
			Fix:   "switch its power off and on, which closes it"}},
		// The numbers of some models are not published, and those of a series have one table.
		Same: func(a, b servo.Model) bool {
			m, _ := a.(*Model)
			o, _ := b.(*Model)
			return m != nil && o != nil && m.Number == 0 && o.Number == 0 && m.Series == o.Series
		},
		Explain: explain, Samples: []string{"sts3215", "scs0009"}, Benchmarks: benchmarks(),
		Foreign: func(id byte) []byte {
			return feetechwire.AppendPacket(nil, &feetechwire.Packet{ID: id, Params: []byte{0, 2}})
		},
	}
	t.Roll = feetechwire.AppendPacket(nil, &feetechwire.Packet{ID: feetechwire.Broadcast, Code: byte(feetechwire.Ping)})
	t.RollSlot = func(baud int) time.Duration { return servo.WireTime(12, bitsPerByte, baud) }
	t.RollIDs = func(got []byte) ([]int, bool) {
		p := feetechwire.NewParser(feetechwire.FromServos)
		var k feetechwire.Packet
		return servo.IDsIn(got, &p.Framer, func() (int, bool) { ok := p.Next(&k); return int(k.ID), ok })
	}
	for _, b := range bauds() {
		t.Bauds = append(t.Bauds, b.Rate)
	}
	return t
}

func (driver) Models() []servo.Model { return servo.ModelsOf(catalogue) }

func (driver) Chain(cfg servo.ChainConfig) servo.LineChain { return NewChain(cfg) }

// benchmarks are the usual lines. The cycle follows from the memory tables: STS sync write 7 and sync read 8; SCS sync
// write 6 and single reads of 8.
func benchmarks() []servo.Benchmark {
	sts := servo.CycleBytes{Bits: bitsPerByte, Bytes: func(n int) int { return 8 + 8*n + 8 + n + 14*n },
		Delays: servo.EachDelay}
	scs := servo.CycleBytes{Bits: bitsPerByte, Bytes: func(n int) int { return 8 + 7*n + 22*n },
		Delays: servo.EachDelay}
	usual, more := []int{115_200, 1_000_000}, []int{57_600, 115_200, 1_000_000}
	bare, delays := servo.ChainConfig{Health: -1}, []time.Duration{0, 250 * time.Microsecond, 500 * time.Microsecond}
	return []servo.Benchmark{
		{Model: "sts3215", First: 1, Bauds: usual, Bound: sts.Bound},
		{Model: "scs0009", First: 1, Bauds: usual, Bound: scs.Bound},
		{Model: "sts3215", First: 1, Delays: delays, Name: "bare", Config: bare, Bauds: more, Bound: sts.Bound,
			Long: true},
		{Model: "scs0009", First: 1, Delays: delays, Name: "bare", Config: bare, Bauds: more, Bound: scs.Bound,
			Long: true},
	}
}

// settable reports whether a register is neither an address nor written by the chain itself.
func settable(name string) bool {
	switch name {
	case "id", "baud_rate", "operating_mode", "lock", "torque_enable", "torque_limit", "goal_position", "goal_velocity",
		"goal_time", "goal_current", "goal_acceleration":
		return false
	}
	return true
}

// Table is the model's memory table.
func (m *Model) Table() []servo.Register { return m.Registers }

// Setting returns a register that a config may set: one of the EEPROM in its copy in RAM.
func (m *Model) Setting(name string) *servo.Register {
	if r := m.Register(name); r != nil && r.Access != servo.ReadOnly && settable(name) {
		return r
	}
	return nil
}

// Meaning names rates and alarms.
func (m *Model) Meaning(r *servo.Register, raw int64) string {
	switch r.Name {
	case "baud_rate":
		return servo.RateText(m.Rate(byte(raw)))
	case "hardware_error", "unload_condition":
		return faults.Report("", uint64(raw)).String()
	}
	return ""
}
