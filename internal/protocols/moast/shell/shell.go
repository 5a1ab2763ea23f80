// Package shell is the command lines of MOAST's levels: each line writes a command to a module's buffer; an empty line
// prints its status. Prompts, commands and messages are those of the manual where it names them.
package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// Channel is a buffer, as nml.Client is one.
type Channel interface {
	Write(m nml.Message, ifRead bool) error
	Peek(v nml.Vocabulary) (nml.Message, error)
	Read(v nml.Vocabulary) (nml.Message, error) // nml.ErrOld: the one before is the latest
}

// Shell is one command line. Its fields are set before Run.
type Shell struct {
	Level   string // servo, prim, am, veh or sect
	Vehicle int
	In      io.Reader
	Out     io.Writer
	Open    func(buffer string) (Channel, error)
	// ReadFile reads the files that arc and wp name; nil = os.ReadFile.
	ReadFile func(name string) ([]byte, error)

	module            *moast.Module
	cmd, cfg, stat    Channel
	set               Channel
	last              moast.Reporter // the latest status
	serial, cfgSerial int32
	view              string // what an empty line prints, stat or set
	word              string // servo: the subsystem at work, mob, mis, eff or sp
	pack              int    // servo: the mission package, from 1
	effector          int    // servo: the effector, from 1
	// servo: the sensors that an empty line prints in the place of view, sonar, range, nav or sensor; "" = none
	data   string
	buffer string // servo: of data
}

// modules are the modules of the levels' shells.
var modules = map[string]string{"servo": "servoMobJA", "prim": "primMobJA", "am": "amMobJA", "veh": "vehMobPL",
	"sect": "sectMobPL"}

// errQuit ends a shell.
var errQuit = errors.New("quit")

// Run reads lines until the end of In, quit, or ctx ends.
func (s *Shell) Run(ctx context.Context) error {
	s.module = moast.ModuleNamed(modules[s.Level])
	if s.module == nil {
		return fmt.Errorf("shell: level: got %q, want servo, prim, am, veh or sect", s.Level)
	}
	if s.ReadFile == nil {
		s.ReadFile = os.ReadFile
	}
	s.word, s.view, s.pack, s.effector = "mob", "stat", 1, 1
	if err := s.open(s.module, 0); err != nil {
		return err
	}
	defer s.close()
	in := bufio.NewScanner(s.In)
	for s.prompt(); in.Scan() && ctx.Err() == nil; s.prompt() {
		if err := s.Line(in.Text()); errors.Is(err, errQuit) {
			return nil
		} else if err != nil {
			fmt.Fprintln(s.Out, err)
		}
	}
	return in.Err()
}

// open takes the buffers of a module in the place of those before.
func (s *Shell) open(m *moast.Module, subsystem int) error {
	var all [4]Channel
	for role := range moast.Role(len(all)) {
		var err error
		if all[role], err = s.Open(m.Buffer(role, s.Vehicle, subsystem)); err != nil {
			closeAll(all[:role]...)
			return fmt.Errorf("shell %s: %w", s.Level, err)
		}
	}
	closeAll(s.cmd, s.stat, s.cfg, s.set)
	s.module, s.cmd, s.stat, s.cfg, s.set = m, all[moast.Cmd], all[moast.Stat], all[moast.Cfg], all[moast.Set]
	s.serial, s.cfgSerial, s.last = 0, 0, nil
	return nil
}

func (s *Shell) close() { closeAll(s.cmd, s.stat, s.cfg, s.set) }

func closeAll(all ...Channel) {
	for _, c := range all {
		if c, ok := c.(io.Closer); ok {
			c.Close()
		}
	}
}

func (s *Shell) prompt() {
	switch {
	case s.data != "":
		fmt.Fprint(s.Out, s.data, "> ")
	case s.Level == "servo":
		fmt.Fprint(s.Out, s.word, s.view, "> ")
	default:
		fmt.Fprint(s.Out, "> ")
	}
}

// status is the module's status, nil if absent.
func (s *Shell) status() moast.Reporter {
	// a read: a peek does not count as a superior's
	if m, err := s.stat.Read(moast.New); err == nil {
		s.last, _ = m.(moast.Reporter)
	} else if !errors.Is(err, nml.ErrOld) {
		s.last = nil
	}
	return s.last
}

// Line does one line.
func (s *Shell) Line(line string) error {
	words := strings.Fields(line)
	if len(words) == 0 {
		return s.printView()
	}
	for _, c := range s.commands() {
		if c.name == words[0] {
			return c.run(words[1:])
		}
	}
	return errors.New("?")
}

// printView prints what is chosen: the status, the settings or, of servo, sensors.
func (s *Shell) printView() error {
	switch {
	case s.data != "":
		return s.print(s.buffer)
	case s.view == "set":
		return s.printSettings()
	}
	return s.printStatus()
}

// command is one word of a shell.
type command struct {
	name, help string
	run        func(args []string) error
}

// commands are the words of the shell's level.
func (s *Shell) commands() []command {
	all := []command{
		{"?", "print this list", func([]string) error { return s.help() }},
		{"help", "print this list", func([]string) error { return s.help() }},
		{"quit", "leave the shell", func([]string) error { return errQuit }},
		{"q", "leave the shell", func([]string) error { return errQuit }},
		{"stat", "print the status, and at each empty line", func([]string) error {
			s.view = "stat"
			return s.printView()
		}},
		{"set", "print the settings, and at each empty line", func([]string) error {
			s.view = "set"
			return s.printView()
		}},
	}
	for _, name := range []string{"Init", "Halt", "Abort", "Shutdown"} {
		all = append(all, command{strings.ToLower(name), "administrative command", func([]string) error {
			return s.send(&moast.Plain{Kind: s.module.ID(moast.Cmd, name)})
		}})
	}
	time := "need <float>"
	if s.Level == "servo" {
		time = "syntax: ct <cycle time>"
	}
	all = append(all,
		command{"ct", "SECS: set the cycle time", s.numbers(time, 1, func(v []float64) error {
			return s.configure(&moast.CfgCycleTime{Kind: s.module.ID(moast.Cfg, "CycleTime"), CycleTime: v[0]})
		})},
		command{"debug", "FLAG: set the debug mask", s.numbers("need <int>", 1, func(v []float64) error {
			return s.configure(&moast.CfgDebug{Kind: s.module.ID(moast.Cfg, "Debug"), Debug: int32(v[0])})
		})})
	return append(all, s.own()...)
}

// own are the words of one level alone.
func (s *Shell) own() []command {
	plain := func(name string) func([]string) error {
		return func([]string) error { return s.send(&moast.Plain{Kind: s.module.ID(moast.Cmd, name)}) }
	}
	point := func(v []float64) []moast.Waypoint {
		return []moast.Waypoint{{P: moast.Cartesian{X: v[0], Y: v[1]}, Neighborhood: 0.3, Speed: 0.4}}
	}
	switch s.Level {
	case "servo":
		return s.servo()
	case "prim":
		return []command{
			{"arc", "FILE: follow arcs, lines of cx cy ex ey theta tolerance speed isArc", s.arcs},
			{"wp", "FILE: follow waypoints, lines of x y neighborhood speed", s.waypoints},
			{"rotate", "THETA: turn to a heading, rad", s.numbers("need <float>", 1, func(v []float64) error {
				return s.send(&moast.PrimMobCmdRotate{Theta: v[0], Tolerance: 0.02, Direction: moast.Shortest})
			})},
			{"vel", "V W: drive at m/s and rad/s clockwise",
				s.numbers("need <float> <float>", 2, func(v []float64) error {
					return s.send(&moast.PrimMobCmdVel{V: v[0], W: v[1]})
				})},
			{"stop", "stop", plain("Stop")},
			{"pars", "VMAX AMAX WMAX ALPHAMAX CUT: set the limits",
				s.numbers("need <float> <float> <float> <float> <float>", 5, func(v []float64) error {
					return s.configure(&moast.PrimMobCfgMove{MoveLimits: moast.MoveLimits{VMax: v[0], AMax: v[1],
						WMax: v[2], AlphaMax: v[3], VCutoff: v[4], WCutoff: v[4]}})
				})},
		}
	case "am":
		return []command{
			{"mv", "X Y: move around obstacles", s.numbers("need <float> <float>", 2, func(v []float64) error {
				return s.send(&moast.AMMobCmdMoveWaypoint{Neighborhood: 0.3, Speed: 0.4, Waypoints: point(v)})
			})},
			{"spin", "THETA: turn to a heading, rad", s.numbers("need <float>", 1, func(v []float64) error {
				return s.send(&moast.AMMobCmdSpin{Angle: v[0], Tolerance: 0.05, Direction: moast.Shortest})
			})},
			{"horizon", "compute the costs of the map's edge", s.numbers("", 0, func([]float64) error {
				return s.send(&moast.AMMobCmdPrepareMove{Neighborhood: 0.3, Speed: 0.4})
			})},
			{"width", "M: set the vehicle's width", s.numbers("need <float>", 1, func(v []float64) error {
				return s.configure(&moast.CfgValue{Kind: moast.CfgVehicleWidth, Value: v[0]})
			})},
			{"dump", "print the map about the vehicle",
				func([]string) error { return s.print(moast.MapBuffer(s.Vehicle)) }},
			{"stop", "stop", plain("Stop")},
		}
	case "veh":
		move := func(local bool) func([]string) error {
			return s.numbers("need <float> <float>", 2, func(v []float64) error {
				return s.send(&moast.VehMobCmdMoveWaypoint{Local: local, Neighborhood: 0.3, Speed: 0.4,
					Waypoints: point(v)})
			})
		}
		return []command{{"mvl", "X Y: move to a local point", move(true)},
			{"mvg", "N E: move to an absolute point", move(false)},
			{"dump", "print the grid of the floor",
				func([]string) error { return s.print(fmt.Sprint("vehSPMap", s.Vehicle)) }},
			{"stop", "stop", plain("Stop")}}
	}
	return []command{
		{"explore", "DIST: send the vehicles to unexplored points",
			s.numbers("need <float>", 1, func(v []float64) error {
				return s.send(&moast.SectMobCmdExplore{Distance: v[0]})
			})},
		{"connect", "ID...: connect to vehicles", func(args []string) error {
			c := &moast.SectMobCmdConnect{SendInit: true}
			for _, word := range args {
				n, err := strconv.Atoi(word)
				if err != nil || len(args) > moast.MaxVehicles {
					return errors.New("need <int>")
				}
				c.Vehicles = append(c.Vehicles, int32(n))
			}
			return s.send(c)
		}},
		{"disconnect", "disconnect from all vehicles", plain("Disconnect")},
	}
}

// numbers is a word that takes n numbers; want is what it prints where it gets others, as MOAST's shells do.
func (s *Shell) numbers(want string, n int, run func(v []float64) error) func([]string) error {
	return func(args []string) error {
		v, err := parse(args, n)
		if err != nil {
			return errors.New(want)
		}
		return run(v)
	}
}

func parse(words []string, n int) (v []float64, err error) {
	if len(words) < n {
		return nil, strconv.ErrSyntax
	}
	for _, word := range words[:n] {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, err
		}
		v = append(v, x)
	}
	return v, nil
}

// lines are the rows of n numbers of a file; empty ones and those that begin with # are left out.
func (s *Shell) lines(args []string, n int) (rows [][]float64, err error) {
	if len(args) == 0 {
		return nil, errors.New("need <file>")
	}
	data, err := s.ReadFile(args[0])
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(data), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		v, err := parse(words, n)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: got %q, want %d numbers", args[0], i+1, line, n)
		}
		rows = append(rows, v)
	}
	return rows, nil
}

func (s *Shell) waypoints(args []string) error {
	rows, err := s.lines(args, 4)
	if err != nil {
		return err
	}
	c := &moast.PrimMobCmdMoveWaypoint{}
	for _, v := range rows {
		c.Waypoints = append(c.Waypoints, moast.Waypoint{P: moast.Cartesian{X: v[0], Y: v[1]}, Neighborhood: v[2],
			Speed: v[3]})
	}
	return s.send(c)
}

func (s *Shell) arcs(args []string) error {
	rows, err := s.lines(args, 8)
	if err != nil {
		return err
	}
	c := &moast.PrimMobCmdMoveArcSegment{}
	for _, v := range rows {
		c.Arcs = append(c.Arcs, moast.ArcSegment{Center: moast.Cartesian{X: v[0], Y: v[1]},
			End:    moast.Cartesian{X: v[2], Y: v[3]},
			Normal: moast.Cartesian{Z: 1}, Theta: v[4], AnnularTolerance: v[5], Speed: v[6], IsArc: int32(v[7])})
	}
	return s.send(c)
}

// step is how far serial numbers rise.
func (s *Shell) step() int32 {
	if s.Level == "servo" {
		return 2
	}
	return 1
}

// send writes a command under the next serial number; empty lines print the status from then on.
func (s *Shell) send(c moast.Command) error {
	s.view = "stat"
	if r := s.status(); r != nil {
		s.serial = max(s.serial, r.Report().EchoSerial)
	}
	s.serial += s.step()
	c.Head().Serial = s.serial
	return s.cmd.Write(c, false)
}

// configure writes a configuration under the next serial number; empty lines print the settings from then on.
func (s *Shell) configure(c moast.Command) error {
	s.view = "set"
	if m, err := s.set.Peek(moast.New); err == nil {
		if set, ok := m.(moast.Setting); ok {
			s.cfgSerial = max(s.cfgSerial, set.Settings().EchoSerial)
		}
	}
	s.cfgSerial += s.step()
	c.Head().Serial = s.cfgSerial
	return s.cfg.Write(c, false)
}

func (s *Shell) help() error {
	for _, c := range s.commands() {
		fmt.Fprintf(s.Out, "%-12s %s\n", c.name, c.help)
	}
	return nil
}

// rows prints pairs of a name and a value.
func (s *Shell) rows(pairs ...any) {
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(s.Out, "%-20s%v\n", fmt.Sprint(pairs[i], ":"), pairs[i+1])
	}
}

func (s *Shell) printHead(h *moast.SetHead) {
	s.rows("command_type", moast.Symbol(h.CommandType), "echo_serial_number", h.EchoSerial, "status", h.Status, "state",
		h.State)
	s.rows("line", h.Line, "source_line", h.SourceLine, "source_file", h.SourceFile)
}

func (s *Shell) printStatus() error {
	r := s.status()
	if r == nil {
		return errors.New("no status")
	}
	h := r.Report()
	s.printHead(&h.SetHead)
	s.rows("admin_state", h.Admin, "heartbeat", h.Tracker.Count, "message", h.Message)
	switch r := r.(type) {
	case *moast.PrimMobStat:
		s.rows("pathIndex", r.PathIndex)
	case *moast.AMMobStat:
		s.rows("errorCode", r.ErrorCode)
	case *moast.SectMobStat:
		s.rows("vehicles", r.Vehicles, "explored", fmt.Sprintf("%.3f", r.Explored))
	case *moast.ServoMobStatGround:
		s.rows("batteryVolts", r.BatteryVolts, "fuelLevel", r.FuelLevel, "headLights", r.HeadLights)
		s.rows("steerAngle", r.SteerAngle, "flippers", r.Flippers)
	case *moast.ServoMisStat:
		for _, l := range r.Links {
			s.rows(fmt.Sprint("link", l.Link), fmt.Sprintf("%f %f", l.Value, l.Torque))
		}
	}
	if s.Level == "prim" {
		return s.printPosition()
	}
	return nil
}

func (s *Shell) printPosition() error {
	nav, err := s.Open(moast.NavDataBuffer(s.Vehicle))
	if err != nil {
		return err
	}
	if c, ok := nav.(io.Closer); ok {
		defer c.Close()
	}
	m, err := nav.Peek(moast.New)
	at, ok := m.(*moast.NavDataExt)
	if err != nil || !ok {
		return nil // no position yet
	}
	for _, row := range []struct {
		name    string
		x, y, z float64
	}{{"tranAbs", at.Abs.Tran.X, at.Abs.Tran.Y, at.Abs.Tran.Z}, {"rpyAbs", at.Abs.RPY.R, at.Abs.RPY.P, at.Abs.RPY.Y},
		{"tranRel", at.Rel.Tran.X, at.Rel.Tran.Y, at.Rel.Tran.Z},
		{"rpyRel", at.Rel.RPY.R, at.Rel.RPY.P, at.Rel.RPY.Y}} {
		s.rows(row.name, fmt.Sprintf("%f %f %f", row.x, row.y, row.z))
	}
	return nil
}

func (s *Shell) printSettings() error {
	m, err := s.set.Peek(moast.New)
	set, ok := m.(moast.Setting)
	if err != nil || !ok {
		return errors.New("no settings")
	}
	s.printHead(set.Settings())
	return printFields(s.Out, set, false)
}
