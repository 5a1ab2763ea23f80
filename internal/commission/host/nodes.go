package host

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/internal/report"
)

// nodeKind is one kind of port that is no serial adapter: the files that show it and the ones that describe it, in
// which %s is the base name of the first.
type nodeKind struct {
	kind, glob string
	stable     string // links to it, by a name that stays
	name       string // a text that the kernel has of it
	driver     string // a link to its driver's folder
	group      string // whose it usually is
	likely     string
}

// nodeKinds lists them in the order in which they are shown.
func nodeKinds() []nodeKind {
	const gpio, video = "sys/bus/gpio/devices/%s/", "sys/class/video4linux/%s/"
	return []nodeKind{
		{"can", "sys/class/net/*", "", "", "sys/class/net/%s/device/driver", "", "motor controllers"},
		{"i2c", "dev/i2c-*", "", "sys/class/i2c-dev/%s/name", "", "i2c", "sensors, PWM boards"},
		{"spi", "dev/spidev*", "", "", "sys/class/spidev/%s/device/driver", "spi", "an inertial sensor"},
		{"gpio", "dev/gpiochip*", "", gpio + "of_node/name", gpio + "device/driver", "gpio",
			"switches, encoders, sonars"},
		{"pwm", "sys/class/pwm/pwmchip*", "", "", "sys/class/pwm/%s/device/driver", "gpio", "hobby servos, ESCs"},
		{"camera", "dev/video*", "dev/v4l/by-id/*", video + "name", video + "device/driver", "video", "a camera"},
	}
}

// listNodes describes what is no serial adapter of the machine whose files are under root. Nothing is opened.
func listNodes(root string) (rows []PortRow) {
	for _, k := range nodeKinds() {
		paths, _ := filepath.Glob(filepath.Join(root, k.glob)) // the patterns are good
		for _, path := range paths {
			base := filepath.Base(path)
			r := PortRow{Type: k.kind, Port: onMachine(root, path), Access: "ok", Latency: report.Number(math.NaN()),
				Likely: k.likely}
			r.Device, r.Chip = r.Port, describe(root, k, base)
			r.Port = stableName(root, k.stable, path, r.Port)
			access := path
			switch k.kind {
			case "can":
				if read(path, "type") != arphrdCAN {
					continue
				}
				r.Port, r.Device = base, base
				r.carries(path)
				rows = append(rows, r)
				continue
			case "pwm":
				r.Chip = strings.TrimSpace(r.Chip + " " + read(path, "npwm") + " outputs")
				access = filepath.Join(path, "export")
			}
			if !accessible(access) {
				r.Access = "denied"
				r.Notes = append(r.Notes, advice{"permission denied", GroupFix(root, access, k.group)})
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// arphrdCAN is a CAN interface's type (linux/if_arp.h).
const arphrdCAN = "280"

// carries notes whether the CAN interface whose folder is at path is up.
func (p *PortRow) carries(path string) {
	flags, err := strconv.ParseUint(read(path, "flags"), 0, 32)
	if err != nil || flags&1 == 1 {
		return
	}
	p.Access = "down"
	p.Notes = append(p.Notes, advice{"the interface is down",
		fmt.Sprintf("sudo ip link set %s up type can bitrate 1000000 restart-ms 100", p.Port)})
}

// describe is what the kernel calls a node: its own name, else its driver's.
func describe(root string, k nodeKind, base string) string {
	if k.name != "" {
		if text := read(root, fmt.Sprintf(k.name, base)); text != "" {
			return text
		}
	}
	if k.driver != "" {
		if to, err := os.Readlink(filepath.Join(root, fmt.Sprintf(k.driver, base))); err == nil {
			return filepath.Base(to)
		}
	}
	return "-"
}

// stableName is the link among those of a pattern that leads to path, else port.
func stableName(root, pattern, path, port string) string {
	if pattern == "" {
		return port
	}
	links, _ := filepath.Glob(filepath.Join(root, pattern))
	for _, l := range links {
		if to, err := filepath.EvalSymlinks(l); err == nil && filepath.Base(to) == filepath.Base(path) {
			return onMachine(root, l)
		}
	}
	return port
}

// onMachine is what the machine whose files are under root calls path.
func onMachine(root, path string) string {
	return "/" + strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
}

// read returns the text of a file without spaces around it, "" of what cannot be read.
func read(parts ...string) string {
	text, _ := os.ReadFile(filepath.Join(parts...))
	return strings.Trim(string(text), " \t\n\r\v\f\x00")
}
