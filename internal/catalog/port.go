package catalog

import (
	"path/filepath"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/spi"
)

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
