package echelon

import (
	"context"
	"errors"
	"math"
	"reflect"
	"sort"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

// TestAdministration: each command in each administrative state.
func TestAdministration(t *testing.T) {
	s := start(t, newRover(), "servoMobJA", Servo)
	check := func(what string, admin moast.Admin, status moast.Status) {
		t.Helper()
		if h := s.stat(); h.Admin != admin || h.Status != status || h.EchoSerial != s.serial {
			t.Errorf("%s: got %v, %v, serial %d, want %v, %v, %d", what, h.Admin, h.Status, h.EchoSerial, admin, status,
				s.serial)
		}
	}
	if h := s.stat(); h.Admin != moast.AdminUninitialized || h.Status != moast.Done || h.State != moast.S0 {
		t.Errorf("at first: got %+v", h)
	}
	skid := func() { s.send(&moast.ServoMobCmdSkid{Left: 1, Right: 2}); s.pass(0.1) }
	skid()
	check("SKID before INIT", moast.AdminUninitialized, moast.Error)
	if s.rover.drives != 0 {
		t.Error("SKID before INIT: the wheels were driven")
	}
	for _, k := range []struct {
		command string
		admin   moast.Admin
	}{{"Init", moast.AdminInitialized}, {"Halt", moast.AdminInitialized}, {"Abort", moast.AdminUninitialized},
		{"Init", moast.AdminInitialized}} {
		s.plain(k.command)
		s.pass(0.1)
		check(k.command, k.admin, moast.Done)
		skid()
		if k.admin == moast.AdminInitialized {
			check("SKID after "+k.command, k.admin, moast.Done)
			if s.rover.rates != [2]float64{1, 2} {
				t.Errorf("SKID after %s: got %v", k.command, s.rover.rates)
			}
		} else {
			check("SKID after "+k.command, k.admin, moast.Error)
		}
	}
	released := s.rover.released
	s.plain("Shutdown")
	s.pass(0.1)
	check("SHUTDOWN", moast.AdminShutDown, moast.Done)
	if s.rover.rates != [2]float64{} || s.rover.released != released+1 {
		t.Errorf("SHUTDOWN: got wheels %v, released %d times", s.rover.rates, s.rover.released-released)
	}
	before := s.serial
	skid()
	if h := s.stat(); h.EchoSerial != before || s.rover.rates != [2]float64{} {
		t.Errorf("after SHUTDOWN: got an answer to serial %d", h.EchoSerial)
	}
}

// TestSerials: the same serial number begins nothing; steps go through NEW_COMMAND, S1, S0.
func TestSerials(t *testing.T) {
	s := start(t, newRover(), "servoMobJA", Servo)
	s.init()
	s.send(&moast.ServoMobCmdSkid{Left: 1, Right: 1})
	s.pass(tick)
	if h := s.stat(); h.Status != moast.Exec || h.State != moast.S1 || h.CommandType != 4006 {
		t.Errorf("first cycle: got %v in state %d, want EXEC in 1", h.Status, h.State)
	}
	s.pass(tick)
	if h := s.stat(); h.Status != moast.Done || h.State != moast.S0 {
		t.Errorf("second cycle: got %v in state %d, want DONE in 0", h.Status, h.State)
	}
	s.change(&moast.ServoMobCmdSkid{Left: 5, Right: 5})
	s.pass(0.1)
	if s.rover.rates != [2]float64{1, 1} {
		t.Errorf("the same serial after its end: got %v, want 1, 1", s.rover.rates)
	}
}

// TestIllegal: commands of another module, of another steering, and numbers that are none.
func TestIllegal(t *testing.T) {
	s := start(t, newRover(), "servoMobJA", Servo)
	s.init()
	for name, c := range map[string]moast.Command{
		"another module":    &moast.PrimMobCmdVel{V: 1},
		"ackerman":          &moast.ServoMobCmdAckerman{Velocity: 1},
		"not a number":      &moast.ServoMobCmdSkid{Left: math.NaN()},
		"a configuration":   &moast.CfgDebug{Kind: 4202},
		"flippers it lacks": &moast.ServoMobCmdFlipSkid{Left: 1, Flippers: []moast.Flipper{{}}},
	} {
		s.send(c)
		if s.until(1, moast.Error); s.rover.rates != [2]float64{} {
			t.Errorf("%s: got wheels %v", name, s.rover.rates)
		}
	}
}

// TestConfigurations: cycle time, debug, limits; refused ones leave the settings.
func TestConfigurations(t *testing.T) {
	s := start(t, newRover(), "primMobJA", Servo, Prim)
	cfg := s.h.Buffer("primMobJACfg1")
	set := func() *moast.PrimMobSet {
		m, _, err := s.h.Buffer("primMobJASet1").Read(moast.New, 0)
		if err != nil {
			t.Fatal(err)
		}
		return m.(*moast.PrimMobSet)
	}
	good := moast.MoveLimits{VMax: 0.2, AMax: 1, WMax: 0.3, AlphaMax: 1, VCutoff: 0.4, WCutoff: 0.4}
	for i, k := range []struct {
		c    moast.Command
		want moast.Status
	}{
		{&moast.PrimMobCfgMove{MoveLimits: good}, moast.Done},
		{&moast.PrimMobCfgMove{MoveLimits: moast.MoveLimits{VMax: -1}}, moast.Error},
		{&moast.CfgDebug{Kind: 8204, Debug: 3}, moast.Done},
		{&moast.CfgCycleTime{Kind: 8202, CycleTime: 0.02}, moast.Done},
		{&moast.CfgCycleTime{Kind: 8202, CycleTime: 0}, moast.Error},
		{&moast.CfgCycleTime{Kind: 4201, CycleTime: 0.5}, moast.Error},
	} {
		k.c.Head().Serial = int32(100 + i)
		if err := cfg.Write(k.c); err != nil {
			t.Fatal(err)
		}
		s.pass(0.1)
		if got := set(); got.EchoSerial != int32(100+i) || got.Status != k.want ||
			got.CommandType != k.c.MessageType() {
			t.Errorf("%T: got %v of serial %d, want %v", k.c, got.Status, got.EchoSerial, k.want)
		}
	}
	if got := set(); got.MoveLimits != good || got.Debug != 3 || got.CycleTime != 0.02 {
		t.Errorf("settings: got %+v", got)
	}
}

// TestSuperior: a superior over the network need not read; when its connection ends, or it is silent for longer than it
// may be, what it moves stops and is free for others. One that only reads does not keep the task.
func TestSuperior(t *testing.T) {
	for _, k := range []struct {
		name, module string
		silence      float64
		leave        bool
		command      moast.Command
		want         string // of the status
	}{
		{"prim, gone", "primMobJA", 0, true, &moast.PrimMobCmdVel{V: 0.3}, "superior gone"},
		{"servo, gone", "servoMobJA", 0, true, &moast.ServoMobCmdSkid{Left: 3, Right: 3}, ""},
		{"prim, silent", "primMobJA", 2, false, &moast.PrimMobCmdVel{V: 0.3}, "superior silent"},
		{"servo, silent", "servoMobJA", 2, false, &moast.ServoMobCmdSkid{Left: 3, Right: 3}, ""},
	} {
		t.Run(k.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, newRover(), k.module, Servo, Prim)
				for _, m := range s.h.modules {
					m.silence = k.silence
				}
				dial := network(t, s.h)
				s.init()
				cmd, stat := dial(s.module.Buffer(moast.Cmd, 1, 0)), dial(s.module.Buffer(moast.Stat, 1, 0))
				defer cmd.Close()
				defer stat.Close()
				k.command.Head().Serial = 77
				if err := cmd.Write(k.command, false); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				s.mute = true
				look := func() { // a reader, on another connection
					if _, err := stat.Peek(moast.New); err != nil {
						t.Fatal(err)
					}
				}
				for range 5 {
					s.pass(1)
					if k.silence > 0 {
						if _, err := cmd.Count(); err != nil { // any request of the writer is a sign of life
							t.Fatal(err)
						}
					}
				}
				if s.rover.rates[0] < 2.9 {
					t.Errorf("a superior that lives: got wheels %v", s.rover.rates)
				}
				released := s.rover.released
				if k.leave {
					cmd.Close()
					synctest.Wait()
				} else {
					s.pass(1.5)
					look()
					if s.rover.rates[0] < 2.9 {
						t.Errorf("silent for 1.5 s: got wheels %v", s.rover.rates)
					}
					look() // does not keep the task
					s.pass(0.6)
				}
				s.pass(0.1)
				if h := s.stat(); s.rover.rates != [2]float64{} || s.rover.released == released || h.Message != k.want {
					t.Errorf("afterwards: got wheels %v, released %v, %q, want 0, true, %q", s.rover.rates,
						s.rover.released != released, h.Message, k.want)
				}
			})
		})
	}
}

// TestStopped: a stop ends every task with an error, and none goes on when the robot is armed again.
func TestStopped(t *testing.T) {
	for module, c := range map[string]moast.Command{"primMobJA": &moast.PrimMobCmdVel{V: 0.3},
		"amMobJA": &moast.AMMobCmdMoveWaypoint{Waypoints: []moast.Waypoint{{P: moast.Cartesian{X: 2},
			Neighborhood: 0.2}}, Neighborhood: 0.2, Speed: 0.3}} {
		s := start(t, newRover(), module, Servo, Prim, AM)
		s.init()
		s.send(c)
		if s.pass(2); s.rover.rates == [2]float64{} {
			t.Fatalf("%s: got still wheels, want driven ones", module)
		}
		s.rover.stopped = errors.New("command rover: stopped")
		h := s.until(0.1, moast.Error)
		if s.pass(0.2); h.Message != "command rover: stopped" || s.rover.rates != [2]float64{} {
			t.Errorf("%s, stopped: got %q, wheels %v", module, h.Message, s.rover.rates)
		}
		s.rover.stopped = nil
		drives := s.rover.drives
		if s.pass(3); s.rover.rates != [2]float64{} || s.rover.drives != drives {
			t.Errorf("%s, armed again: got wheels %v, %d commands", module, s.rover.rates, s.rover.drives-drives)
		}
		s.send(c)
		if s.pass(2); s.rover.rates == [2]float64{} {
			t.Errorf("%s, a new command: got still wheels", module)
		}
	}
}

// network serves the buffers of h, and returns what connects to one.
func network(t *testing.T, h *Hierarchy) func(buffer string) *nml.Client {
	pipes := protocolstest.NewPipes("nml")
	server, err := nml.NewServer(pipes, h.Buffers(), nml.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() { server.Serve(ctx) })
	t.Cleanup(func() { cancel(); serving.Wait() })
	return func(buffer string) *nml.Client {
		c, err := nml.NewClient(pipes.Dial(), h.Buffer(buffer).Options())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
}

// TestSizes: each buffer takes the object of each message that it may carry, and says so in the file that rcslib
// programs open.
func TestSizes(t *testing.T) {
	h, err := New(newRover(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	most := map[string]int32{"amSPMap1": data2D, "vehSPMap1": data2D, "primSPLinescan1": dataList,
		"servoSPLinescan1_1": data1D,
		"servoSPSonarArr1_1": data3D, "navDataExt1": navData, "primMobJACmd1": 8007, "amMobJACmd1": 11005,
		"sectMobPLCmd1": 16006}
	for _, b := range Config("localhost", func(int) int { return 1 }, h).Buffers {
		if id := most[b.Name]; id > 0 && b.Size < int(nml.Size(moast.New(id))) {
			t.Errorf("%s: got %d bytes, want %d of %s", b.Name, b.Size, nml.Size(moast.New(id)), moast.Symbol(id))
		}
		delete(most, b.Name)
	}
	if len(most) > 0 {
		t.Errorf("not there: %v", most)
	}
}

// TestLongest: the longest form of each message passes through its buffer in each encoding, and an rcslib program's
// buffer of that size, which takes twice the object in packed and xdr and four times in disp, holds it.
func TestLongest(t *testing.T) {
	factor, seen := map[nml.Encoding]int{nml.Packed: 2, nml.XDR: 2, nml.Disp: 4}, 0
	for id := int32(1); id < 20_000; id++ {
		m := moast.New(id)
		if m == nil {
			continue
		}
		seen++
		longest(m, reflect.ValueOf(m).Elem())
		for e, times := range factor {
			b := &buffers{encoding: e, byName: map[string]*nml.Buffer{}}
			buffer := b.get("b", id)
			if err := buffer.Write(m); err != nil {
				t.Errorf("%s, %v: %v", moast.Symbol(id), e, err)
				continue
			}
			bytes, _ := nml.Append(nil, e, m)
			if most := times * (buffer.Options().Size - header); len(bytes) > most {
				t.Errorf("%s, %v: got %d bytes, want at most %d", moast.Symbol(id), e, len(bytes), most)
			}
		}
	}
	if seen < 140 {
		t.Errorf("got %d messages, want 140 or more", seen)
	}
	if size := (&buffers{byName: map[string]*nml.Buffer{}}).get("b", data2D).Options().Size; size < 360_088 {
		t.Errorf("SensorData2D: got %d bytes, want 360088 or more", size)
	}
}

// longest gives each field of m in v the value of the longest text, and each array as many elements as it may have.
func longest(m nml.Message, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "Kind" || v.Field(i).Int() == 0 { // of a message it is its type
				longest(m, v.Field(i))
			}
		}
	case reflect.Slice:
		fits := func(n int) bool {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			_, err := nml.Append(nil, nml.Packed, m)
			return !errors.Is(err, nml.ErrCount)
		}
		n := sort.Search(1<<20, func(n int) bool { return !fits(n + 1) })
		fits(n)
		for i := range n {
			longest(m, v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			longest(m, v.Index(i))
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32:
		v.SetInt(math.MinInt32)
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Uint32:
		v.SetUint(math.MaxUint32)
	case reflect.Float32:
		v.SetFloat(-math.MaxFloat32)
	case reflect.Float64:
		v.SetFloat(-math.MaxFloat64)
	case reflect.String:
		v.SetString(strings.Repeat("\x01", 1000))
	}
}

// TestDown: INIT and ABORT of prim go to servo first; without servo prim waits in EXEC.
func TestDown(t *testing.T) {
	s := start(t, newRover(), "primMobJA", Servo, Prim)
	s.init()
	servo := s.over("servoMobJA")
	if h := servo.stat(); h.Admin != moast.AdminInitialized {
		t.Errorf("servo after INIT of prim: got %v", h.Admin)
	}
	s.plain("Abort")
	s.until(1, moast.Done)
	if h := servo.stat(); h.Admin != moast.AdminUninitialized {
		t.Errorf("servo after ABORT of prim: got %v", h.Admin)
	}
	lone := start(t, newRover(), "primMobJA", Prim)
	lone.plain("Init")
	lone.pass(1)
	if h := lone.stat(); h.Status != moast.Exec || h.Admin != moast.AdminUninitialized {
		t.Errorf("INIT without servo: got %v, %v, want EXEC", h.Status, h.Admin)
	}
}
