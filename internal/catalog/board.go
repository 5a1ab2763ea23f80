package catalog

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/gpio"
	"github.com/halyard-robotics/halyard/drivers/spi"
	"github.com/halyard-robotics/halyard/hal"
)

// BoardPlan is a board that makes pulses, resolved.
type BoardPlan struct {
	Bus, Device       string
	Address           int // -1: no address
	Body              configs.BodyKind
	Kind              *OutputKind
	Channels          int     // 0..channels-1 are used
	Hertz, Oscillator float64 // 0: the usual
	Crc               bool
	Alone             bool      // no other device of the config is on its bus
	Root              string    // of kernel-pwm; "" = the kernel's own
	Thrusts           bool      // a thruster is connected to it
	Gate              *GatePlan // nil: no output-enable line

	Taken map[int]configs.Path
	SetAt map[string]configs.Path // where a setting of the whole board was made
}

// Name returns the board's name in errors.
func (p *BoardPlan) Name() string {
	if p.Bus == "" {
		return p.Device
	}
	return p.Bus
}

// WirePlan is one line of a GPIO chip, resolved.
type WirePlan struct {
	Agent     int
	Name      string // its name in errors and as consumer of the line: "estop", the light's name
	Bus, Line string
	Low       bool
	Body      configs.BodyKind
}

// Pins returns the line for the driver.
func (w *WirePlan) Pins(e Connection) gpio.Pins {
	return gpio.Pins{Bus: e.Name, Open: e.Lines, Lines: []string{w.Line}, ActiveLow: w.Low, User: "halyard " + w.Name}
}

// GatePlan is the output-enable line of boards: several may share it.
type GatePlan struct {
	WirePlan
	Boards []*BoardPlan
}

// None returns n times hal.None.
func None(n int) []int { return slices.Repeat([]int{hal.None}, n) }

// ChipPort returns the I2C bus or SPI port of target: a device file, a link to one, or CONFIG:BUS of that type; "" for
// another type.
func ChipPort(target string) (port, kind string) {
	device := target
	if d, err := filepath.EvalSymlinks(target); err == nil {
		device = d
	}
	if strings.HasPrefix(filepath.Base(device), "i2c-") {
		return target, I2CBus
	}
	if _, _, ok := spi.Parse(device); ok {
		return target, SPIBus
	}
	config, bus, two := strings.Cut(target, ":")
	if !two || strings.HasPrefix(target, "/dev/") {
		return "", ""
	}
	if c, err := configs.Load(config, configs.Options{}); err == nil {
		if b := c.Buses[bus]; b.Type == I2CBus || b.Type == SPIBus {
			return b.Port, b.Type
		}
	}
	return "", ""
}
