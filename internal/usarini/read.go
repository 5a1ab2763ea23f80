package usarini

import (
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Bots is the contents of a USARBot.ini, in its order.
type Bots struct {
	File    string // as faults name it
	UDK     bool   // the file of USARSim on UDK: angles of scanners are radians, robots carry the items of AddParts
	Robots  []Robot
	Devices []Device
	Ignored yaml.Faults // unknown keys, and sections of other packages

	devices map[string]int // of Devices, by class in small letters, with and without its package; the first of each
}

// Robot finds a robot by its class, with or without the package before the dot, in any case; nil if absent.
func (b *Bots) Robot(class string) *Robot {
	for i := range b.Robots {
		if same(b.Robots[i].Class, class) {
			return &b.Robots[i]
		}
	}
	return nil
}

// Device finds a class of sensors or effecters likewise.
func (b *Bots) Device(class string) *Device {
	if i, ok := b.devices[strings.ToLower(class)]; ok {
		return &b.Devices[i]
	}
	return nil
}

// add adds a class of sensors or effecters.
func (b *Bots) add(v Device) {
	for _, name := range [...]string{strings.ToLower(v.Class), shortClass(v.Class)} {
		if _, ok := b.devices[name]; !ok {
			b.devices[name] = len(b.Devices)
		}
	}
	b.Devices = append(b.Devices, v)
}

// has reports whether a section has a key.
func (s *section) has(key string) bool {
	return slices.ContainsFunc(s.entries, func(e entry) bool { return strings.EqualFold(e.key, key) })
}

// heritage returns the entries of a base class that others inherit: the first of each key of slots.
func (s *section) heritage(slots []slot) (list []entry) {
	seen := make([]bool, len(slots))
	for _, e := range s.entries {
		if i := find(slots, e.key); i >= 0 && !seen[i] {
			seen[i] = true
			list = append(list, e)
		}
	}
	return list
}

// inherit adds the base class's entries that a section omits, as Unreal's classes do.
func (s *section) inherit(base []entry) {
	for _, e := range base {
		if !s.has(e.key) {
			s.entries = append(s.entries, e)
		}
	}
}

// packageOf returns the part of a class before the dot.
func packageOf(class string) string { p, _, _ := strings.Cut(class, "."); return p }

// same reports whether asked names class, with or without its package, in any case.
func same(class, asked string) bool {
	return strings.EqualFold(class, asked) || strings.EqualFold(short(class), asked)
}

// ParseBots reads a USARBot.ini, or the DefaultUSAR.ini of UDK; file names it in faults. The error is yaml.Faults, all
// of them together, except those of a robot's section, which Twin of that robot reports: one bad robot does not refuse
// the others. With an error it also returns the readable part.
func ParseBots(file string, text []byte) (*Bots, error) {
	var faults yaml.Faults
	b := &Bots{File: file, devices: map[string]int{}}
	var everything Robot
	var every Device
	slots := append(everything.slots(), every.slots()...)
	opens := func(key string) bool { return list(key) >= 0 || find(slots, key) >= 0 }
	sections := scan(file, text, opens, &faults)
	for _, s := range sections {
		b.UDK = b.UDK || strings.EqualFold(packageOf(s.name), "USARSensor") ||
			strings.EqualFold(packageOf(s.name), "USARBotAPI")
	}
	have := map[string]int{}
	for i := range sections {
		s := &sections[i]
		d := decoder{file: file, section: s.name, line: s.line, faults: &faults}
		if known := strings.ToLower(packageOf(s.name)); known != "usarbot" && !(b.UDK && known == "usarsensor") {
			continue
		}
		id := strings.ToLower(s.name)
		if at, twice := have[id]; twice && b.UDK { // as UDK's own file has them, which adds up such sections
			sections[at].entries = append(sections[at].entries, s.entries...)
			s.name = ""
			continue
		} else if twice {
			d.fault("", "a second one", "each section once")
			s.name = ""
			continue
		}
		have[id] = i
	}
	var base []entry
	if i, ok := have["usarsensor.rangescanner"]; ok {
		base = sections[i].heritage(every.slots())
	}
	for i := range sections {
		s := &sections[i]
		d := decoder{file: file, section: s.name, line: s.line, faults: &faults}
		if _, ok := have[strings.ToLower(s.name)]; !ok && s.name != "" {
			d.ignore(&b.Ignored, s.entries)
			continue
		} else if !ok {
			continue
		}
		d.word("", s.name)
		var ignored []entry
		if robotic(s) {
			var own yaml.Faults
			d.faults = &own
			var r Robot
			r, ignored = d.robot(s)
			r.Faults = own
			for _, e := range ignored {
				if strings.HasPrefix(strings.TrimSpace(e.text), "(") {
					r.unread = append(r.unread, e)
				}
			}
			b.Robots = append(b.Robots, r)
		} else {
			if b.UDK && s.has("ScanFov") {
				s.inherit(base)
			}
			var v Device
			v, ignored = d.device(s, b.UDK)
			b.add(v)
		}
		d.ignore(&b.Ignored, ignored)
	}
	return b, faults.Err()
}

// API is the server's settings in a BotAPI.ini.
type API struct {
	Found                      bool // the file has the section
	ListenPort, MaxConnections int
	Ignored                    yaml.Faults
}

// ParseAPI reads a BotAPI.ini: [BotAPI.BotServer], on UDK [USARBotAPI.BotServer], with ListenPort and MaxConnections,
// whose defaults are 3000 and 16.
func ParseAPI(file string, text []byte) (*API, error) {
	var faults yaml.Faults
	a := &API{ListenPort: 3000, MaxConnections: 16}
	for _, s := range scan(file, text, func(string) bool { return false }, &faults) {
		d := decoder{file: file, section: s.name, line: s.line, faults: &faults}
		if !strings.EqualFold(s.name, "BotAPI.BotServer") && !strings.EqualFold(s.name, "USARBotAPI.BotServer") {
			d.ignore(&a.Ignored, s.entries)
			continue
		}
		if a.Found {
			d.fault("", "a second one", "each section once")
			continue
		}
		a.Found = true
		d.ignore(&a.Ignored, d.scalars(s.entries, []slot{
			{"ListenPort", &a.ListenPort, 1, 65535}, {"MaxConnections", &a.MaxConnections, 1, 1024}}))
	}
	return a, faults.Err()
}
