package moast

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/internal/protocols/nml"
	"github.com/halyard-robotics/halyard/sim/model"
)

// INI is the part of a moast.ini about the world in use:
//
//	[USARSIM.INFSKIN]                  or [USARSIM_API]
//	HOST_NAME = localhost              the arena is simulated here: no other host
//	PLATFORM_TYPE_1 = P2AT             one line a vehicle
//	[DM-USAR_yellow]                   the world, also without DM-USAR_
//	UNREAL_UTM_OFFSET = 0, 0, 0        northing, easting, down, m
//	UTM_LETTER = N
//	UTM_ZONE = 18
//	UTM_START_POSE_COUNT = 1
//	UTM_START_POSE_1 = 4.5, 1.9, 1.8   of vehicle 1, with the offset; also roll, pitch, yaw, rad
//	[SERVO_MOB_JA]                     or [SERVO_SP]
//	CYCLE_TIME = 0.01                  s
//
// Other sections and keys are those of modules that are not here, and are ignored.
type INI struct {
	World     string
	Platforms []string // of vehicles 1, 2 ...
	Offset    [3]float64
	Starts    []Start
	Cycle     time.Duration // of servo; 0 = not given
}

// Start is a start pose with the offset: north, east, down, m; roll, pitch, yaw, rad.
type Start [6]float64

// iniMost is how many vehicles and start poses a file may have.
const iniMost = 16

// ParseINI reads a moast.ini for a world. The error joins one *nml.Fault, with file and line, for each fault.
func ParseINI(file, world string, r io.Reader) (*INI, error) {
	p := iniParser{file: file, out: &INI{World: world}, poses: map[int]Start{}, types: map[int]string{},
		lines: map[string]int{}, count: -1}
	in := bufio.NewScanner(r)
	for in.Scan() {
		p.line++
		p.read(in.Text())
	}
	if err := in.Err(); err != nil {
		p.line++
		p.fault("line: %w", err)
	}
	p.finish()
	return p.out, errors.Join(p.faults...)
}

type iniParser struct {
	file    string
	line    int
	section string
	out     *INI
	poses   map[int]Start
	types   map[int]string
	count   int            // of start poses; -1 = not given
	lines   map[string]int // of each known key, by section/key
	faults  []error
}

func (p *iniParser) fault(format string, args ...any) { p.faultAt(p.line, format, args...) }

func (p *iniParser) faultAt(line int, format string, args ...any) {
	p.faults = append(p.faults, &nml.Fault{File: p.file, Line: line, Err: fmt.Errorf(format, args...)})
}

// read takes one line.
func (p *iniParser) read(text string) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] == '#' || text[0] == ';' {
		return
	}
	if text[0] == '[' {
		name, rest, ok := strings.Cut(text[1:], "]")
		if !ok || strings.TrimSpace(rest) != "" && !strings.ContainsAny(strings.TrimSpace(rest)[:1], "#;") {
			p.fault("section: got %.60q, want [NAME]", text)
		}
		p.section = strings.TrimSpace(name)
		return
	}
	key, value, ok := strings.Cut(text, "=")
	if !ok {
		p.fault("line: got %.60q, want KEY = VALUE", text)
		return
	}
	if p.section == "" {
		p.fault("line: got %.60q before the first [SECTION]", text)
		return
	}
	if i := strings.IndexAny(value, "#;"); i >= 0 {
		value = value[:i]
	}
	p.pair(strings.ToUpper(strings.TrimSpace(key)), strings.Trim(strings.TrimSpace(value), `"`))
}

// world reports whether the section at work is that of the world in play.
func (p *iniParser) world() bool { return sceneOf(p.section) == sceneOf(p.out.World) }

// sceneOf is the scene of a world, for example DM-USAR_yellow.
func sceneOf(world string) string {
	return strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(world), "dm-"), "usar_")
}

// pair takes one key and its value.
func (p *iniParser) pair(key, value string) {
	known := true
	switch section := strings.ToUpper(p.section); {
	case section == "USARSIM_API" || section == "USARSIM.INFSKIN":
		known = p.simulator(key, value)
	case section == "SERVO_MOB_JA" || section == "SERVO_SP":
		if known = key == "CYCLE_TIME"; known {
			s := p.number(key, value, 0.001, 1)
			p.out.Cycle = time.Duration(s * float64(time.Second))
		}
	case p.world():
		known = p.place(key, value)
	default:
		known = false
	}
	if !known {
		return
	}
	if id := strings.ToUpper(p.section) + "/" + key; p.lines[id] > 0 {
		p.fault("%s: got a second line, want one (the first is line %d)", key, p.lines[id])
	} else {
		p.lines[id] = p.line
	}
}

func (p *iniParser) simulator(key, value string) bool {
	switch {
	case key == "HOST_NAME":
		if ip := net.ParseIP(value); value != "" && !strings.EqualFold(value, "localhost") &&
			(ip == nil || !ip.IsLoopback()) {
			p.fault("HOST_NAME: got %.60q, want localhost: halyard moast simulates the arena itself", value)
		}
	case key == "PORT_NUMBER":
		p.number(key, value, 1, 65535)
	case strings.HasPrefix(key, "PLATFORM_TYPE_"):
		if n := p.index(key, "PLATFORM_TYPE_"); n > 0 {
			p.types[n] = value
			if name := modelOf(value); !slices.Contains(model.RescueNames(), name) {
				p.fault("%s: got %.60q, want a robot of USARSim, such as P2AT or P2DX", key, value)
			}
		}
	default:
		return false
	}
	return true
}

// modelOf is the model of a platform type, as USARSim's class is called.
func modelOf(platform string) string {
	name, _ := strings.CutPrefix(strings.ToLower(platform), "usarbot.")
	return "usarsim-" + name
}

func (p *iniParser) place(key, value string) bool {
	switch {
	case key == "UNREAL_UTM_OFFSET":
		if v := p.numbers(key, value, 3); v != nil {
			p.out.Offset = [3]float64(v)
		}
	case key == "UTM_LETTER":
		if value != "N" && value != "S" {
			p.fault("UTM_LETTER: got %.20q, want N or S", value)
		}
	case key == "UTM_ZONE":
		p.number(key, value, 0, 60)
	case key == "UTM_START_POSE_COUNT":
		p.count = int(p.number(key, value, 0, iniMost))
	case strings.HasPrefix(key, "UTM_START_POSE_"):
		n := p.index(key, "UTM_START_POSE_")
		if v := p.numbers(key, value, 3, 6); v != nil && n > 0 {
			var start Start
			copy(start[:], v)
			p.poses[n] = start
		}
	default:
		return false
	}
	return true
}

// index is the number at the end of a key.
func (p *iniParser) index(key, prefix string) int {
	n, err := strconv.Atoi(key[len(prefix):])
	if err != nil || n < 1 || n > iniMost {
		p.fault("%s: number: got %.20q, want 1..%d", prefix, key[len(prefix):], iniMost)
		return 0
	}
	return n
}

func (p *iniParser) number(key, value string, low, high float64) float64 {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || !(v >= low && v <= high) {
		p.fault("%s: got %.60q, want %g..%g", key, value, low, high)
		return low
	}
	return v
}

// numbers parses numbers with commas or blanks between, as many as one of counts; nil if they are not.
func (p *iniParser) numbers(key, value string, counts ...int) (v []float64) {
	words := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
	ok := slices.Contains(counts, len(words))
	for _, word := range words {
		x, err := strconv.ParseFloat(word, 64)
		ok = ok && err == nil && math.Abs(x) <= 1e8
		v = append(v, x)
	}
	if !ok {
		p.fault("%s: got %.60q, want %v numbers", key, value, counts)
		return nil
	}
	return v
}

// finish checks what only the whole file shows.
func (p *iniParser) finish() {
	for n := 1; n <= len(p.types); n++ {
		if p.types[n] == "" {
			p.fault("PLATFORM_TYPE_%d: missing: there are %d vehicles", n, len(p.types))
			continue
		}
		p.out.Platforms = append(p.out.Platforms, p.types[n])
	}
	if p.count >= 0 && p.count != len(p.poses) {
		p.fault("UTM_START_POSE_COUNT: got %d, want %d as there are poses", p.count, len(p.poses))
	}
	for n := 1; n <= len(p.poses); n++ {
		start, ok := p.poses[n]
		if !ok {
			p.fault("UTM_START_POSE_%d: missing: there are %d", n, len(p.poses))
		}
		p.out.Starts = append(p.out.Starts, start)
	}
	if len(p.out.Platforms) > len(p.out.Starts) && len(p.out.Platforms) > 1 {
		p.fault("UTM_START_POSE_%d: got none in [%s], want one for each of %d vehicles", len(p.out.Starts)+1,
			p.out.World, len(p.out.Platforms))
	}
}
