package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/drivers/spi"
	"github.com/halyard-robotics/halyard/hal"
)

// foundChip is what answers at one address of an I2C bus, or on a port of SPI.
type foundChip struct {
	Port    string   `json:"port"`
	Address int      `json:"address"` // -1 on SPI
	Devices []string `json:"devices"` // what of ours it may be
	Sure    bool     `json:"sure"`    // it said so itself
}

func (foundChip) header() []string { return []string{"address", "device", "known by"} }

func (f foundChip) cells() []string {
	name, by := strings.Join(f.Devices, " or "), "its address"
	switch {
	case f.Sure:
		by = "its identity"
	case len(f.Devices) == 0:
		name, by = "-", "nothing: no device of ours sits there"
	}
	if f.Address < 0 {
		return []string{"-", name, by}
	}
	return []string{fmt.Sprintf("0x%02X", f.Address), name, by}
}

// chipPort is the I2C bus or port of SPI that target means: a device file, a link to one, or CONFIG:BUS of that type; of
// another type it is nothing.
func chipPort(target string) (port, kind string) {
	device := target
	if d, err := filepath.EvalSymlinks(target); err == nil {
		device = d
	}
	if strings.HasPrefix(filepath.Base(device), "i2c-") {
		return target, i2cBus
	}
	if _, _, ok := spi.Parse(device); ok {
		return target, spiBus
	}
	config, bus, two := strings.Cut(target, ":")
	if !two || strings.HasPrefix(target, "/dev/") {
		return "", ""
	}
	if c, err := configs.Load(config, configs.Options{}); err == nil {
		if b := c.Buses[bus]; b.Type == i2cBus || b.Type == spiBus {
			return b.Port, b.Type
		}
	}
	return "", ""
}

// identity is how a chip says what it is: a register and its value.
type identity struct {
	device   string
	register byte
	value    byte
}

// identities are those of the devices that say it, of which the addresses are theirs.
func identities() []identity {
	list := []identity{{"bno055", imu.BNO055ChipID, imu.BNO055ID}, {"lsm6dsox", imu.LSM6WhoAmI, imu.LSM6ID},
		{"bmp280", pressure.BMX280ID, pressure.BMP280WhoAmI}, {"bme280", pressure.BMX280ID, pressure.BME280WhoAmI}}
	for _, m := range imu.MPUModels() {
		list = append(list, identity{m.Name, imu.MPUWhoAmI, m.WhoAmI})
	}
	return list
}

// The addresses that a chip may have; the rest is reserved.
const (
	firstAddress = 0x08
	lastAddress  = 0x77
)

// surveyI2C asks every address for a byte, and those where a device of ours may sit for its identity. It writes nothing but
// the numbers of registers to be read.
func surveyI2C(ctx context.Context, port string, bus conn.Bus) ([]foundChip, error) {
	may := map[int][]string{}
	for name, k := range sensorKinds() {
		for _, a := range k.addresses {
			may[a] = append(may[a], name)
		}
	}
	for name, k := range outputKinds() {
		for _, a := range k.addresses {
			may[a] = append(may[a], name)
		}
	}
	rows := []foundChip{}
	for a := firstAddress; a <= lastAddress; a++ {
		if err := ctx.Err(); err != nil {
			return rows, err
		}
		var one [1]byte
		if bus.Tx(uint16(a), nil, one[:]) != nil {
			continue // nobody, as nearly everywhere
		}
		row := foundChip{Port: port, Address: a, Devices: may[a]}
		c := i2c.NewChip(bus, uint16(a), "")
		for _, id := range identities() {
			if slices.Contains(may[a], id.device) {
				if p, err := c.Read(id.register, 1); err == nil && p[0] == id.value {
					row.Devices, row.Sure = []string{id.device}, true
					break
				}
			}
		}
		if !row.Sure { // one that says what it is would have
			row.Devices = slices.DeleteFunc(row.Devices, func(name string) bool {
				return slices.ContainsFunc(identities(), func(id identity) bool { return id.device == name })
			})
		}
		slices.Sort(row.Devices)
		rows = append(rows, row)
	}
	return rows, nil
}

// surveySPI asks the chip on a port of SPI who it is. It writes nothing but the numbers of registers to be read.
func surveySPI(port string, bus conn.Bus) ([]foundChip, error) {
	row, kinds := foundChip{Port: port, Address: -1}, sensorKinds()
	silent := true
	for _, id := range identities() {
		if !slices.Contains(kinds[id.device].buses, spiBus) {
			continue
		}
		p, err := i2c.NewChip(bus, 0, id.device).Read(id.register, 1)
		if err != nil {
			return nil, err
		}
		if p[0] == id.value {
			row.Devices, row.Sure = []string{id.device}, true
			return []foundChip{row}, nil
		}
		silent = silent && (p[0] == 0 || p[0] == 0xFF)
	}
	if silent {
		return []foundChip{}, nil
	}
	return []foundChip{row}, nil
}

// scanSPI tells who answers on the port of SPI at port.
func (a *app) scanSPI(port string) error {
	bus, err := spi.Open(port, spi.Usual)
	if err != nil {
		return err
	}
	defer bus.Close()
	rows, err := surveySPI(port, bus)
	if e := show(a, rows); err == nil {
		err = e
	}
	if err == nil && len(rows) == 0 {
		return &hal.Error{Kind: hal.BusFault, Bus: port, Op: "scan",
			Err: errors.New("nobody answers: check the chip's power, MISO, MOSI and SCLK, and its CS"), Try: "halyard ports"}
	}
	return err
}

// scanI2C lists who answers on the I2C bus at port.
func (a *app) scanI2C(ctx context.Context, port string) error {
	bus, err := i2c.Open(port)
	if err != nil {
		return err
	}
	defer bus.Close()
	rows, err := surveyI2C(ctx, port, bus)
	if e := show(a, rows); err == nil {
		err = e
	}
	if err == nil && len(rows) == 0 {
		return &hal.Error{Kind: hal.BusFault, Bus: port, Op: "scan",
			Err: fmt.Errorf("nobody answers at 0x%02X..0x%02X: check the devices' power, SDA and SCL, and the pull-ups", firstAddress, lastAddress), Try: "halyard ports"}
	}
	return err
}
