package commission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/wire/imureg"
	"github.com/halyard-robotics/halyard/internal/wire/pressurereg"
)

// FoundChip is what answers at one address of an I2C bus, or on a port of SPI.
type FoundChip struct {
	Port    string   `json:"port"`
	Address int      `json:"address"` // -1 on SPI
	Devices []string `json:"devices"` // what of ours it may be
	Sure    bool     `json:"sure"`    // it reported it itself

	register byte // with that
}

func (f FoundChip) Cells() report.Cells {
	name, by, address := strings.Join(f.Devices, " or "), "its address", "-"
	switch {
	case f.Sure:
		by = "its identity"
	case len(f.Devices) == 0:
		name, by = "-", "nothing: no device of ours sits there"
	}
	if f.Address >= 0 {
		address = fmt.Sprintf("0x%02X", f.Address)
	}
	return report.Cells{{"address", address}, {"device", name}, {"known by", by}}
}

// identity is how a chip describes what it is: a register and its value.
type identity struct {
	device          string
	register, value byte
	clone           bool // sold as the device
}

// identities are those of the devices that report one, at their addresses.
func identities() []identity {
	list := []identity{{"bno055", imureg.BNO055ChipID, imureg.BNO055ID, false},
		{"lsm6dsox", imureg.LSM6WhoAmI, imureg.LSM6ID, false},
		{catalog.LSM6DSO32, imureg.LSM6WhoAmI, imureg.LSM6ID, false},
		{"bmp280", pressurereg.BMX280ID, pressurereg.BMP280WhoAmI, false},
		{"bme280", pressurereg.BMX280ID, pressurereg.BME280WhoAmI, false}}
	var clones []identity
	for _, m := range imu.MPUModels() {
		list = append(list, identity{m.Name, imureg.MPUWhoAmI, m.WhoAmI, false})
		for _, v := range m.Clones {
			clones = append(clones, identity{m.Name, imureg.MPUWhoAmI, v, true})
		}
	}
	for _, v := range pressure.BMP280Samples() {
		clones = append(clones, identity{"bmp280", pressurereg.BMX280ID, v, true})
	}
	return append(list, clones...)
}

// The addresses that a chip may have; the rest is reserved.
const (
	FirstAddress = 0x08
	LastAddress  = 0x77
)

// maxHeldLow is how many addresses in a row may time out, a second each, before the scan ends: a bus that is held low
// answers at none.
const maxHeldLow = 3

// SurveyI2C asks every address for a byte, and those where a device of ours may sit for its identity. It writes nothing
// but the numbers of registers to be read.
func SurveyI2C(ctx context.Context, port string, bus conn.Bus) ([]FoundChip, error) {
	may := map[int][]string{}
	for name, k := range catalog.SensorKinds() {
		for _, a := range k.Addresses {
			may[a] = append(may[a], name)
		}
	}
	for name, k := range catalog.OutputKinds() {
		for _, a := range k.Addresses {
			may[a] = append(may[a], name)
		}
	}
	rows, held := []FoundChip{}, 0
	for a := FirstAddress; a <= LastAddress; a++ {
		if err := ctx.Err(); err != nil {
			return rows, err
		}
		var one [1]byte
		err := bus.Tx(uint16(a), nil, one[:])
		if held++; !errors.Is(err, i2c.ErrHeldLow) {
			held = 0
		}
		switch {
		case err == nil:
		case errors.Is(err, i2c.ErrSMBusOnly):
			return rows, surveyFault(port, hal.Invalid, err, "i2cdetect -F "+strings.TrimPrefix(port, "/dev/i2c-"))
		case held == maxHeldLow:
			return rows, surveyFault(port, hal.BusFault,
				fmt.Errorf("%w: a device or a wire holds SDA or SCL low: unplug the devices one by one", err),
				"halyard doctor")
		default:
			continue // no device, as nearly everywhere
		}
		row := FoundChip{Port: port, Address: a, Devices: may[a]}
		c := i2c.NewChip(bus, uint16(a), "")
		for _, id := range identities() {
			if slices.Contains(may[a], id.device) && (!row.Sure || id.register == row.register && !id.clone) {
				if p, err := c.Read(id.register, 1); err == nil && p[0] == id.value {
					if row.Devices = append(row.Devices, id.device); !row.Sure {
						row.Devices, row.Sure, row.register = []string{id.device}, true, id.register
					}
				}
			}
		}
		if !row.Sure { // one that describes what it is would have
			row.Devices = slices.DeleteFunc(row.Devices, func(name string) bool {
				return slices.ContainsFunc(identities(), func(id identity) bool { return id.device == name })
			})
		}
		slices.Sort(row.Devices)
		rows = append(rows, row)
	}
	return rows, nil
}

func surveyFault(port string, kind hal.Kind, err error, try string) error {
	return &hal.Error{Kind: kind, Bus: port, Op: "scan", Err: err, Try: try}
}

// SurveySPI identifies the chip on an SPI port. It writes nothing but the numbers of registers to be read.
func SurveySPI(port string, bus conn.Bus) ([]FoundChip, error) {
	row, kinds := FoundChip{Port: port, Address: -1}, catalog.SensorKinds()
	silent := true
	for _, id := range identities() {
		if !slices.Contains(kinds[id.device].Buses, catalog.SPIBus) {
			continue
		}
		p, err := i2c.NewChip(bus, 0, id.device).Read(id.register, 1)
		if err != nil {
			return nil, err
		}
		if p[0] == id.value {
			row.Devices, row.Sure = []string{id.device}, true
			return []FoundChip{row}, nil
		}
		silent = silent && (p[0] == 0 || p[0] == 0xFF)
	}
	if silent {
		return []FoundChip{}, nil
	}
	return []FoundChip{row}, nil
}
