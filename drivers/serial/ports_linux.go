package serial

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// List returns every serial adapter and UART that the kernel knows, USB first, by device. root is "/" but in tests,
// where it is a folder that holds sys, dev and proc. It opens no port, since opening one raises its modem lines.
func List(root string) ([]Port, error) {
	class := filepath.Join(root, "sys/class/tty")
	entries, err := os.ReadDir(class)
	if err != nil {
		return nil, err
	}
	links := stableLinks(root)
	var ports []Port
	for _, e := range entries {
		dir, err := filepath.EvalSymlinks(filepath.Join(class, e.Name(), "device"))
		if err != nil {
			continue // a console or a pty: no device behind it
		}
		if text(filepath.Join(class, e.Name(), "type")) == "0" {
			continue // the kernel keeps ttyS names for UARTs that are not there
		}
		ports = append(ports, describe(root, e.Name(), dir, links))
	}
	slices.SortFunc(ports, func(a, b Port) int {
		if a.USB != b.USB {
			return map[bool]int{true: -1, false: 1}[a.USB]
		}
		return cmp.Or(len(a.Device)-len(b.Device), strings.Compare(a.Device, b.Device))
	})
	return ports, nil
}

// describe reads the properties of the port called name, whose device is at dir in sysfs.
func describe(root, name, dir string, links links) Port {
	p := Port{Device: "/dev/" + name}
	// A tty of a USB serial chip has the chip's driver; one of CDC-ACM has its interface's.
	driver, _ := os.Readlink(filepath.Join(dir, "driver"))
	// The USB device is the first ancestor that has a vendor id; interfaces and ports lie between.
	for up := dir; len(up) > len(filepath.Clean(root)) && up != "/"; up = filepath.Dir(up) {
		if vendor, err := strconv.ParseUint(text(filepath.Join(up, "idVendor")), 16, 16); err == nil {
			product, _ := strconv.ParseUint(text(filepath.Join(up, "idProduct")), 16, 16)
			p.USB, p.Vendor, p.Product = true, uint16(vendor), uint16(product)
			p.Name, p.Serial = text(filepath.Join(up, "product")), text(filepath.Join(up, "serial"))
			break
		}
	}
	p.Stable = links.of(name, p.USB && p.Serial == "")
	p.Chip = chipOf(p.Vendor, p.Product, baseOrEmpty(driver))
	// access(2) considers ACLs, by which logind grants a seat its devices; mode bits do not show them.
	node := filepath.Join(root, "dev", name)
	if err := unix.Access(node, unix.R_OK|unix.W_OK); err == unix.EACCES {
		p.Denied = denial(node)
	} else if err != nil {
		p.Denied = err.Error()
	}
	p.Holders, p.Hidden = holders(filepath.Join(root, "proc"), p.Device)
	p.Latency = readLatency(root, p.Device)
	return p
}

// stableName is the name of path under /dev/serial or linkDir that stays the same after replugging: by-id, else ours,
// else by-path, else path. A link below /dev is of a udev rule, and is kept; another link is kept if there is no stable
// name. For an adapter without a serial number by-id is the last choice before path: its twin has the same.
func stableName(root, path string) string {
	if strings.HasPrefix(path, "/dev/serial/") || strings.HasPrefix(path, linkDir+"/") {
		return path
	}
	if at, err := os.Lstat(filepath.Join(root, path)); err == nil && at.Mode()&os.ModeSymlink != 0 &&
		strings.HasPrefix(path, "/dev/") {
		return path
	}
	device := path
	if d, err := filepath.EvalSymlinks(filepath.Join(root, path)); err == nil {
		device = d
	}
	if ports, err := List(root); err == nil {
		for i := range ports {
			if ports[i].Device == "/dev/"+filepath.Base(device) {
				if ports[i].Stable == ports[i].Device {
					return path // no stable name: a user's own link may lead to its next node
				}
				return ports[i].Stable
			}
		}
	}
	if name := stableLinks(root).of(filepath.Base(device), false); name != "/dev/"+filepath.Base(device) {
		return name
	}
	return path
}

// links are the names of devices in each folder of stable links, by the kernel's name: "ttyUSB0".
type links map[string]map[string]string

// The folders of stable links.
const (
	byID   = "/dev/serial/by-id"
	byPath = "/dev/serial/by-path"
)

// of is the most stable name of a device; anonymous means that it has no serial number, so by-id does not distinguish
// it from another of its type.
func (l links) of(name string, anonymous bool) string {
	order := []string{byID, linkDir, byPath}
	if anonymous {
		order = []string{linkDir, byPath, byID}
	}
	for _, dir := range order {
		if link := l[dir][name]; link != "" {
			return link
		}
	}
	return "/dev/" + name
}

// stableLinks reads the folders of stable links.
func stableLinks(root string) links {
	l := links{}
	for _, dir := range []string{byID, linkDir, byPath} {
		l[dir] = map[string]string{}
		entries, _ := os.ReadDir(filepath.Join(root, dir)) // none without udev
		for _, e := range entries {
			if target, err := os.Readlink(filepath.Join(root, dir, e.Name())); err == nil {
				l[dir][filepath.Base(target)] = filepath.Join(dir, e.Name())
			}
		}
	}
	return l
}

// text is a sysfs attribute without its newline, "" if absent.
func text(file string) string {
	b, _ := os.ReadFile(file)
	return strings.TrimSpace(string(b))
}

func baseOrEmpty(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}
