package plan

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/spi"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/emulator/version"
)

// portKinds maps prefixes of the system's device names to kinds. Any other name may be a user's link, a label, or a
// terminal of halyard emulate.
func portKinds() map[string]string {
	return map[string]string{
		"/dev/ttyUSB": "a serial port", "/dev/ttyACM": "a serial port", "/dev/ttyAMA": "a serial port",
		"/dev/ttyS": "a serial port", "/dev/serial/": "a serial port", "/dev/pts/": "a serial port",
		"/dev/i2c-": "an I2C bus", "/dev/gpiochip": "a GPIO chip", "/dev/video": "a camera", "/dev/v4l/": "a camera",
		"/dev/spidev": "a port of SPI", "tcp://": "an address of the network",
	}
}

// PortKind returns the kind of a port by its name, "" if the name does not show it.
func PortKind(port string) string {
	for begins, kind := range portKinds() {
		if strings.HasPrefix(port, begins) {
			return kind
		}
	}
	for _, begins := range []string{"can", "vcan", "slcan"} {
		if n, ok := strings.CutPrefix(port, begins); ok && n != "" && strings.Trim(n, "0123456789") == "" {
			return "a CAN interface"
		}
	}
	return ""
}

// leads checks that a bus's port is a device for its type, as far as its name shows.
func (r *Resolver) leads(name string, bus *configs.Bus) {
	t, servos := r.Catalog.Buses.Of(bus.Type), r.Catalog.Buses.Has(bus.Type)
	want, also := "a serial port", ""
	switch {
	case bus.Type == catalog.I2CBus:
		want = "an I2C bus"
	case bus.Type == catalog.SPIBus:
		want = "a port of SPI"
	case bus.Type == catalog.GPIOBus:
		want = "a GPIO chip"
	case bus.Type == catalog.SerialBus:
		also = "an address of the network"
	case !servos:
		return // the type is a fault of its own
	case t.Filters != nil:
		want = "a CAN interface"
	}
	port := bus.Port
	if strings.HasPrefix(port, "/") {
		port = filepath.Clean(port)
	}
	may, known := t.Firmwares, t.Quirks
	if bus.Type == catalog.SerialBus {
		may, known = version.Scanners()
	}
	if key, got, want, ok := version.Check(may, known, bus.Firmware, bus.Quirks); !ok {
		r.fault(configs.Path("buses").Key(name).Key(key), got, want, "")
	}
	if kind := PortKind(port); kind != "" && kind != want && kind != also {
		r.fault(configs.Path("buses").Key(name).Key("port"), bus.Port+", which is "+kind, want+", for type "+bus.Type,
			"")
	}
}

// selected checks the SPI port of a device, which must be the only one on it.
func (r *Resolver) selected(at configs.Path, c *configs.Sensor, kind *catalog.SensorKind) bool {
	bus, path := r.Config.Buses[c.Bus], configs.Path("buses").Key(c.Bus)
	_, _, named := spi.Parse(bus.Port)
	switch {
	case c.Address != nil:
		r.fault(at.Key("address"), fmt.Sprintf("0x%02X", *c.Address), "none, on spi",
			"the port selects the chip: /dev/spidev0.1 is select 1 of bus 0")
	case kind.Most > 0 && bus.Frequency > kind.Most:
		r.fault(path.Key("frequency"), fmt.Sprint(bus.Frequency),
			fmt.Sprintf("at most %d, for %s", kind.Most, c.Device), "")
	case strings.HasPrefix(bus.Port, "/dev/spidev") && !named:
		r.fault(path.Key("port"), bus.Port, "a bus and a select, such as /dev/spidev0.0", "")
	default:
		return true
	}
	return false
}
