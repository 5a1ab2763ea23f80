package commission

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// KnownRobot is a robot whose lines a scan recognises: an embedded config whose hardware is servos.
type KnownRobot struct {
	Name   string
	Config *configs.Config
	text   string
	buses  catalog.Buses
}

// KnownRobots are the embedded configs of one agent that servos drive.
func KnownRobots(buses catalog.Buses) (list []KnownRobot) {
	for _, name := range configs.Names() {
		c, err := configs.Load(name, configs.Options{})
		if err != nil || len(c.Agents) != 1 || len(ServoBuses(buses, c)) == 0 ||
			len(ServoBuses(buses, c)) != len(c.Buses) {
			continue
		}
		text, _ := configs.Embedded(name)
		list = append(list, KnownRobot{name, c, string(text), buses})
	}
	return list
}

// Lines are the names of its lines of servos.
func (k *KnownRobot) Lines() []string { return ServoBuses(k.buses, k.Config) }

// joints are those on a bus, by id.
func (k *KnownRobot) joints(bus string) map[int]configs.Joint {
	all := map[int]configs.Joint{}
	for _, j := range k.Config.Agents[0].Hardware.Joints {
		if j.Bus == bus {
			all[j.ID] = j
		}
	}
	return all
}

// fits is the share of the servos of a bus and of those found on a line that are the same, 0..1.
func (k *KnownRobot) fits(bus string, found []FoundServo) float64 {
	want, same := k.joints(bus), 0
	t := k.buses.Of(k.Config.Buses[bus].Type)
	for _, f := range found {
		j, there := want[f.ID]
		if there && f.Type == t.Type && f.Finding == "" &&
			(f.Model == j.Model || t.Same != nil && t.Same(t.Lookup(j.Model), t.Lookup(f.Model))) {
			same++
		}
	}
	return float64(same) / float64(max(1, len(want), len(found)))
}

// Recognise returns the known robot that fits lines best, with the share of its servos that were found; 0 if nothing
// fits. found has the servos of each line.
func Recognise(robots []KnownRobot, found map[string][]FoundServo) (best *KnownRobot, share float64) {
	for i := range robots {
		k := &robots[i]
		sum, buses := 0.0, k.Lines()
		for _, port := range k.Ports(found) {
			sum += k.fits(port.Bus, found[port.Port])
		}
		if s := sum / float64(len(buses)); s > share {
			best, share = k, s
		}
	}
	return best, share
}

// BusPort is the port of a config's bus.
type BusPort struct{ Bus, Port string }

// Ports assigns lines to the buses of k: to each the line that fits best; the only line to the only bus in any case.
func (k *KnownRobot) Ports(found map[string][]FoundServo) (list []BusPort) {
	left := report.SortedKeys(found)
	buses := k.Lines()
	for _, bus := range buses {
		at, share := -1, 0.0
		for i, port := range left {
			if s := k.fits(bus, found[port]); s > share || len(buses) == 1 && len(left) == 1 {
				at, share = i, s
			}
		}
		if at >= 0 {
			list, left = append(list, BusPort{bus, left[at]}), slices.Delete(left, at, at+1)
		}
	}
	return list
}

var (
	robotName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,40}$`)
	nameLine  = regexp.MustCompile(`(?m)^name: \S+`)
	bodyLine  = regexp.MustCompile(`(?m)^( +body: )sim\b.*`)
)

// CheckRobotName refuses what cannot be the name of a rig, which is that of its socket too.
func CheckRobotName(name string) error {
	if robotName.MatchString(name) {
		return nil
	}
	return &hal.Error{Kind: hal.Invalid, Op: "name",
		Err: fmt.Errorf("got %.60q, want lower-case letters, digits, - and _",
			name)}
}

// Write writes the config of a real robot of this kind into file, which must not exist.
func (k *KnownRobot) Write(file, name string, ports []BusPort) error {
	if err := CheckRobotName(name); err != nil {
		return err
	}
	text := k.text
	for strings.HasPrefix(text, "#") { // its head is about the embedded config
		_, text, _ = strings.Cut(text, "\n")
	}
	text = nameLine.ReplaceAllString(text, "name: "+name)
	text = bodyLine.ReplaceAllString(text, "${1}real                      # sim, emulated or real")
	for _, p := range ports {
		was := k.Config.Buses[p.Bus].Port
		line := regexp.MustCompile(`(?m)^( +port: )` + regexp.QuoteMeta(was) + `\b.*$`)
		text = line.ReplaceAllString(text, "${1}"+strings.ReplaceAll(strconv.Quote(p.Port), "$", "$$"))
	}
	text = fmt.Sprintf("# The robot %s, of the kind %s. Written by halyard new.\n#\n#   halyard doctor %s\n"+
		"#   halyard calibrate %s\n#   halyard move %s JOINT=30deg\n", name, k.Name, file, file, file) + text
	c, err := configs.Parse([]byte(text), file, configs.Options{})
	if err == nil {
		for _, p := range ports {
			if c.Buses[p.Bus].Port != p.Port {
				err = cmp.Or(err, fmt.Errorf("bus %s: got port %s, want %s", p.Bus, c.Buses[p.Bus].Port, p.Port))
			}
		}
	}
	if err != nil {
		return fmt.Errorf("new: config of %s: %w", k.Name, err)
	}
	if _, err := os.Lstat(file); err == nil {
		return &hal.Error{Kind: hal.Busy, Op: "new", Err: fmt.Errorf("%s exists already", file),
			Try: "halyard new --out FILE"}
	} else if !errors.Is(err, os.ErrNotExist) {
		return &hal.Error{Kind: hal.Busy, Op: "new", Err: err}
	}
	return yaml.WriteFile(file, []byte(text))
}
