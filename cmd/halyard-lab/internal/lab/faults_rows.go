package lab

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/drivers/gpio"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
)

// FaultRow is one device on trial, and how it is connected to the test rig.
type FaultRow struct {
	Device     string   // as the config calls it
	Bus        string   // what it is reached by: a type of bus, or ofMachine
	On         string   // the test rig's bus that it is connected to
	names      []string // what the test rig calls it
	only       string   // which of names loses its power
	neighbours []string // that must not notice

	servo, LineType, port, buses, Board, monitor string // of the test rig's files
	rate                                         string // a key of the device's bus
	Baud                                         int
	id                                           int  // of the first servo; the second is the next
	frames                                       bool // its line carries frames, of CAN
	Address                                      uint16
	stranger                                     []byte  // a reply of another device on the line
	Off                                          float64 // what the position of a servo may be off by, rad
	// what a fault does that no driver can help, by the fault
	known map[string]string

	contacts bool                          // on lines of GPIO: switches, which bounce
	cuts     bool                          // a wire of it that is cut is to be noticed
	Wires    string                        // of the test rig's file
	never    []string                      // faults that it cannot have
	own      map[string]planter            // faults that it has in its own way
	Try      func(t *trial, plant planter) // the course of its cells, where it tells nothing of itself
	Cameras  string                        // of the test rig's file
	encoding string                        // of the camera's frames
	Tag      int                           // before a reader of tags
	mute     bool                          // it is received only while there is a tag

	rover         bool // on the robot with wheels, with these:
	Base, scanner string

	calm   bool                 // nothing is wrong yet
	missed bool                 // it reported no tag
	Values map[string][]float64 // of sensors, when all was well
	within []float64            // how far from them is no fault: without a checksum small errors are not to be seen
	share  float64              // of a scan's rays may be wrong: each has a checksum of a few bits, or none
}

// heldTag is the number of the tag that is held before readers.
const heldTag = 0x0083_4CE7

// knownSilent is the outcome of a reader that was not received, and hence reports no tag.
const knownSilent = "known: a silent reader looks like a reader without a tag"

// Judge describes what is wrong with a sensor's values. Those of the calm are the right ones.
func (r *FaultRow) Judge(name string, values []float64) (wrong string) {
	if r.calm {
		r.Values[name] = slices.Clone(values)
		return ""
	}
	if r.mute && values[0] == 0 {
		r.missed = true // which is no lie
		return ""
	}
	right, bad := r.Values[name], 0
	for i, v := range values[:min(len(values), len(right))] {
		near := 1e-6 + 1e-3*math.Abs(right[i])
		if k := min(i, len(r.within)-1); k >= 0 {
			near = max(near, r.within[k])
		}
		if math.Abs(v-right[i]) > near { // NaN is not known, and no lie
			bad++
			wrong = fmt.Sprintf("value %d is %.4g, want %.4g", i, v, right[i])
		}
	}
	if float64(bad) <= r.share*float64(len(values)) {
		return ""
	}
	return wrong
}

// FaultRows are all devices that a config may name. They come from the same tables as the config's words do, so a new
// one is tried without a word here.
func FaultRows() []*FaultRow {
	var rows []*FaultRow
	for _, kind := range catalog.BuiltinBuses().Names() {
		t := catalog.BuiltinBuses().Of(kind)
		for _, model := range t.Samples {
			r := newRow(model, kind)
			r.On, r.names, r.only, r.neighbours = "line", []string{"one", "two"}, "one", []string{"pulse", "imu"}
			if r.servo, r.LineType = model, kind; !t.Exact {
				r.Off = offChance
			}
			for _, baud := range []int{1_000_000, 1_250_000, 115_200} {
				if _, ok := t.Lookup(model).BaudCode(baud); ok {
					r.Baud = baud
					break
				}
			}
			switch {
			case t.OneSupply:
				r.id, r.only = 0, "" // the two axes of a board, which has one supply
			case t.Chained:
				// The second is behind the first, on its CAN: it may lose its power alone, or both the line.
				first := *r
				first.Device, first.only = model+"-both", ""
				rows = append(rows, &first)
				r.only = "two"
			case t.Filters != nil:
				r.frames, r.Off, r.port = true, offPosition, "can0"
			}
			if t.Unproven != "" {
				known := "known: " + t.Unproven
				r.known = map[string]string{"corrupted": known, "dropped": known}
			}
			rows = append(rows, r)
		}
	}
	for _, device := range report.SortedKeys(catalog.OutputKinds()) {
		kind := catalog.OutputKinds()[device]
		r := newRow(device, kind.Bus)
		r.names, r.neighbours = []string{"pulse"}, []string{"one", "two", "imu"}
		r.connect(kind.Bus, kind.Addresses, 0x28)
		r.Board = fmt.Sprintf("{%sdevice: %s, channel: 0}", r.at(), device)
		rows = append(rows, r)
		if device == "maestro" { // its checksum is an option
			crc := *r
			crc.Device, crc.Board = "maestro-crc", strings.Replace(r.Board, "channel", "crc: true, channel", 1)
			rows = append(rows, &crc)
			const chance = "known: a wrong pulse now and then, without crc: true"
			r.known = map[string]string{"corrupted": chance, "duplicated": chance}
		}
	}
	for _, device := range report.SortedKeys(catalog.SensorKinds()) {
		kind := catalog.SensorKinds()[device]
		for _, bus := range kind.Buses {
			r := newRow(device, bus)
			if rows = append(rows, r); kind.Scanner != nil {
				r.roll("usb", "scanner1")
				r.scanner, r.within, r.share = fmt.Sprintf("{bus: usb, device: %s%s}", device, scannerKeys()[device]),
					[]float64{0.1}, 0.05
				continue
			}
			r.names, r.neighbours, r.within = []string{"device"}, []string{"one", "two", "pulse", "imu"}, kind.Jump
			if r.Tag = 0; kind.Reads {
				r.Tag = heldTag
			}
			r.mute = device == "rdm6300"
			if kind.Baud != 0 {
				r.rate = fmt.Sprintf(", baud: %d", kind.Baud)
			}
			r.connect(bus, kind.Addresses, 0x28, 0x40)
			lines := ""
			if kind.On != nil {
				r.contacts, r.cuts = kind.On.Bias == gpio.Up, kind.On.Turns
				lines = ", lines: [4"
				for i := range len(kind.On.Lines) - 1 {
					lines += fmt.Sprint(", ", 5+i)
				}
				lines += "]"
			}
			r.monitor = fmt.Sprintf("      monitors:\n        device: {%sdevice: %s%s, rate: 50}", r.at(), device,
				lines)
		}
	}
	rows = append(append(rows, cameraRows()...), wireRows()...)
	for _, device := range report.SortedKeys(plan.BaseKinds()) {
		r := newRow(device, catalog.SerialBus)
		r.roll("base", "odometry", "battery")
		r.Base, r.within = fmt.Sprintf("{bus: base, device: %s, robot: %s}", device, plan.BaseKinds()[device]),
			[]float64{0.02}
		rows = append(rows, r)
	}
	return rows
}

// scannerKeys are the keys that a scanner needs in addition to its device.
func scannerKeys() map[string]string { return map[string]string{"hokuyo": ", model: urg-04lx"} }

// roll puts the row on the robot with wheels, at a bus of which these of its sensors hang.
func (r *FaultRow) roll(on string, names ...string) {
	r.rover, r.On, r.names, r.neighbours = true, on, names, []string{"inu"}
	r.Base, r.scanner = "{bus: base, device: p2os, robot: p2at}", "{bus: usb, device: sick-lms200}"
	for _, other := range []string{"odometry", "f4", "scanner1"} {
		if !slices.Contains(names, other) && (other == "scanner1") == (on == "base") {
			r.neighbours = append(r.neighbours, other)
		}
	}
}

// ofMachine is the bus of what is part of the machine: the kernel's PWM.
const ofMachine = "-"

// rigServo is a servo of the test rig that is not on trial: of the first bus type that is scanned for and shares its
// line.
func rigServo() (kind, model string) {
	all, _ := catalog.BuiltinBuses().Scanned("all") // which is a word it knows
	for _, kind := range all {
		if t := catalog.BuiltinBuses().Of(kind); !t.Alone && len(t.Samples) > 1 {
			return kind, t.Samples[1]
		}
	}
	return "", ""
}

// newRow is the row of a device, with a test rig of devices that are not on trial.
func newRow(device, bus string) *FaultRow {
	kind, model := rigServo()
	return &FaultRow{Values: map[string][]float64{}, Device: device, Bus: bus, servo: model, LineType: kind,
		port: "/dev/serial/by-id/line", Baud: 1_000_000,
		Board: "{bus: main, device: pca9685, channel: 0}", stranger: strangerOn(bus), Off: offPosition, id: 1}
}

// connect gives the row's device a bus and an address of the test rig, other than the addresses taken.
func (r *FaultRow) connect(bus string, addresses []int, taken ...int) {
	switch bus {
	case "":
		r.Bus = ofMachine
	case catalog.I2CBus:
		r.On = "main"
		for _, a := range addresses {
			if !slices.Contains(taken, a) {
				r.Address = uint16(a)
				break
			}
		}
	default:
		port := "/dev/serial/by-id/usb"
		if bus == catalog.SPIBus {
			port = "/dev/spidev0.0"
		}
		r.On, r.buses = "usb", "  usb: {type: "+bus+", port: "+port+r.rate+"}"
		if bus == catalog.GPIOBus {
			r.On, r.buses = "io", "  io: {type: gpio}"
		}
	}
}

// at is the bus and the address of the device, for the test rig's file.
func (r *FaultRow) at() string {
	switch r.On {
	case "":
		return ""
	case "main":
		return fmt.Sprintf("bus: main, address: 0x%02X, ", r.Address)
	}
	return "bus: " + r.On + ", "
}

// strangerOn is a sound reply of a device that was not asked, in the protocol of the bus where it has one.
func strangerOn(bus string) []byte {
	const id = 99
	if t := catalog.BuiltinBuses().Of(bus); t.Foreign != nil {
		return t.Foreign(id)
	}
	for _, kind := range catalog.BuiltinBuses().Names() {
		if t := catalog.BuiltinBuses().Of(kind); t.Packets != "" {
			return t.Foreign(id)
		}
	}
	return nil
}
