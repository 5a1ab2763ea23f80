package configs

import (
	"maps"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/internal/yaml"
)

// forms returns the pattern of a name in the tag. The patterns keep names usable in file and socket names, in channel
// names (left_elbow/position) and on a command line. The set of kinds is open here; the catalog has the kinds.
func forms(name string) yaml.Form {
	short := func(chars string) func(string) bool {
		return func(s string) bool { return len(s) <= 64 && strings.Trim(s, chars) == "" }
	}
	begun := func(chars string) func(string) bool {
		return func(s string) bool { return isAlnum(s[0]) && short(chars)(s) }
	}
	switch name {
	case "name":
		return yaml.Form{Rule: "a name of letters, digits, - _ and .", OK: begun(nameChars)}
	case "class":
		return yaml.Form{Rule: "a class name of letters, digits, - _ and .", OK: short(nameChars)}
	case "kind":
		return yaml.Form{Rule: "a word of small letters, digits, - and _", OK: begun(kindChars)}
	case "servo":
		return yaml.Form{Rule: "a word of small letters, digits, - and _, or the path of a servo file, NAME.yaml",
			OK: func(s string) bool {
				ext := filepath.Ext(s)
				return ext == ".yaml" || ext == ".yml" || begun(kindChars)(s)
			}}
	case "robot": // as its maker wrote it into it: p2at8+
		return yaml.Form{Rule: "a word of small letters, digits, -, _ and +", OK: begun(kindChars + "+")}
	case "port":
		return yaml.Form{Rule: "a device such as /dev/serial/by-id/usb-FTDI_..., or a path", OK: isPort}
	case "address":
		return yaml.Form{Rule: "HOST:PORT with a port of 0..65535", OK: isAddress}
	case "line":
		return yaml.Form{Rule: "the offset of a line, or its name", OK: isLine, Bare: isOffset}
	}
	return yaml.Form{Rule: "text"}
}

const (
	kindChars = "abcdefghijklmnopqrstuvwxyz0123456789_-"
	nameChars = kindChars + "ABCDEFGHIJKLMNOPQRSTUVWXYZ."
)

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// isPort accepts any text that can be the path of a device; whether it is one is checked later.
func isPort(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) &&
		filepath.Clean(s) != "." && !strings.HasSuffix(s, "/")
}

// isOffset accepts an offset in the form that the tools print: 17, and not 0x11 or 017.
func isOffset(s string) bool {
	offset, err := strconv.ParseUint(s, 10, 16)
	return err == nil && s == strconv.FormatUint(offset, 10)
}

// isLine accepts an offset, or a possible name of a line: at most 31 bytes, as in the kernel.
func isLine(s string) bool {
	if strings.Trim(s, "0123456789") == "" {
		return isOffset(s)
	}
	return len(s) <= 31 && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// isAddress accepts any host: resolving names would make loading wait for the network.
func isAddress(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil || strings.ContainsAny(host, " \t/@") {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// isLoopback reports whether only this machine reaches the address s. An empty host means all interfaces. A host name
// other than localhost is not resolved and counts as reachable from outside.
func isLoopback(s string) bool {
	host, _, err := net.SplitHostPort(s)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// anyPort reports whether s requests any free port (port 0).
func anyPort(s string) bool {
	_, port, err := net.SplitHostPort(s)
	return err == nil && port == "0"
}

// names returns the keys of m in order.
func names[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
