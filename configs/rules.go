package configs

import (
	"net"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// form is a pattern that a text keeps.
type form struct {
	rule string // in words, as it stands after "want"
	ok   func(string) bool
}

// forms are the patterns by the name in the tag. They keep names usable where they end up: in file and socket names, in
// channel names (left_elbow/position), on a command line. The set of kinds is open here; cmd knows what there is.
func forms(name string) form {
	switch name {
	case "name":
		return form{"a name of letters, digits, - _ and .", func(s string) bool {
			return len(s) <= 64 && isAlnum(s[0]) && strings.Trim(s, nameChars) == ""
		}}
	case "class":
		return form{"a class name of letters, digits, - _ and .", func(s string) bool {
			return len(s) <= 64 && strings.Trim(s, nameChars) == ""
		}}
	case "kind":
		return form{"a word of small letters, digits, - and _", func(s string) bool {
			return len(s) <= 64 && isAlnum(s[0]) && strings.Trim(s, kindChars) == ""
		}}
	case "robot": // as its maker wrote it into it: p2at8+
		return form{"a word of small letters, digits, -, _ and +", func(s string) bool {
			return len(s) <= 64 && isAlnum(s[0]) && strings.Trim(s, kindChars+"+") == ""
		}}
	case "port":
		return form{"a device such as /dev/serial/by-id/usb-FTDI_..., or a path", isPort}
	case "address":
		return form{"HOST:PORT with a port of 0..65535", isAddress}
	}
	return form{"text", func(string) bool { return true }}
}

const (
	kindChars = "abcdefghijklmnopqrstuvwxyz0123456789_-"
	nameChars = kindChars + "ABCDEFGHIJKLMNOPQRSTUVWXYZ."
)

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// isPort takes what can be a path of a device; whether it is one, cmd sees.
func isPort(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) &&
		filepath.Clean(s) != "." && !strings.HasSuffix(s, "/")
}

// isLine takes an offset as the tools print it, 17 and not 0x11 or 017, and, of a text, what can be the name of a line: the
// kernel has room for 31 bytes.
func isLine(s string, named bool) bool {
	if strings.Trim(s, "0123456789") == "" {
		offset, err := strconv.ParseUint(s, 10, 16)
		return err == nil && s == strconv.FormatUint(offset, 10)
	}
	return named && len(s) <= 31 && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// isAddress takes any host: looking names up would make loading wait for the network.
func isAddress(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil || strings.ContainsAny(host, " \t/@") {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// isLoopback reports whether only this machine reaches the address s. An empty host is every interface, and of another
// name than localhost nobody can tell.
func isLoopback(s string) bool {
	host, _, err := net.SplitHostPort(s)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// anyPort reports whether s asks for whatever port is free.
func anyPort(s string) bool {
	_, port, err := net.SplitHostPort(s)
	return err == nil && port == "0"
}

// field is one key of a struct, and with fields all that decoding and the reference know of the types in config.go.
type field struct {
	name  string
	index []int
	typ   reflect.Type
	tag   reflect.StructTag
}

// fields lists the keys of t in order; embedded structs stand inline.
func fields(t reflect.Type) []field {
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		switch name := f.Tag.Get("yaml"); {
		case f.Anonymous:
			for _, inner := range fields(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				list = append(list, inner)
			}
		case f.IsExported() && name != "-":
			list = append(list, field{name, f.Index, f.Type, f.Tag})
		}
	}
	return list
}

// rule says in words what a value of type t may be: "0..253", "a time 100us..1s". Faults and reference share it, so
// that what is documented is what is checked.
func rule(t reflect.Type, tag reflect.StructTag) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	between := ""
	if tag.Get("min") != "" {
		between = tag.Get("min") + ".." + tag.Get("max")
	}
	switch {
	case t == reflect.TypeFor[Line]():
		return "the offset of a line, or its name"
	case t == reflect.TypeFor[time.Duration]():
		return strings.TrimSpace("a time " + between)
	case tag.Get("enum") != "" && t.Kind() != reflect.Map:
		return words(strings.Split(tag.Get("enum"), "|"))
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		if between != "" {
			return between
		}
		return "a whole number"
	case reflect.Float64:
		if between != "" {
			return between
		}
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Array:
		return "a list of " + strconv.Itoa(t.Len()) + " numbers"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a table"
	}
	return forms(tag.Get("form")).rule
}

// words joins words as a sentence does: a, b or c.
func words(list []string) string {
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " or " + list[n-1]
	}
	return strings.Join(list, "")
}

// names returns the keys of m in order.
func names[T any](m map[string]T) []string {
	list := make([]string, 0, len(m))
	for name := range m {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
