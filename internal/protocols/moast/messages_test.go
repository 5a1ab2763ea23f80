package moast

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// TestRCSLib: messages of all published headers are byte for byte those of NIST's library, sizes and symbols included.
func TestRCSLib(t *testing.T) {
	text, err := os.ReadFile("testdata/rcslib.txt")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for line := range strings.Lines(string(text)) {
		if line[0] == '#' {
			continue
		}
		var encoding, symbol, digits string
		var id int32
		if _, err := fmt.Sscan(line, &encoding, &id, &symbol, &digits); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		e := nml.Packed
		if encoding == "xdr" {
			e = nml.XDR
		}
		want, _ := hex.DecodeString(digits)
		m := filled(id)
		got, err := nml.Append(nil, e, m)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s %s: got\n%x, %v, want\n%s", encoding, symbol, got, err, digits)
		}
		if s := Symbol(id); s != symbol {
			t.Errorf("symbol of %d: got %s, want %s", id, s, symbol)
		}
		back := New(id)
		if err := nml.Decode(want, e, back); err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("%s %s: decode: got %+v, %v, want %+v", encoding, symbol, back, err, m)
		}
		compared++
	}
	if compared != 176 {
		t.Errorf("compared %d messages, want 176", compared)
	}
}

// TestStatus is the bytes of a status that were captured from a running program.
func TestStatus(t *testing.T) {
	m := &PrimMobStat{CommandTypeSent: 4006, SerialSent: 8}
	m.CommandType, m.EchoSerial, m.Status, m.State, m.Line, m.SourceLine = 8010, 7, Exec, S1, 2, 3
	m.Admin, m.Tracker.Count, m.Message = AdminInitialized, 4, "ok"
	want := "4ca51f0000100100004a1f000007000000020000000100000002000000" + "03000000" + strings.Repeat("00", 64) +
		"0200000004000000" + strings.Repeat("00", 56) + "030000006f6b00a60f00000800000000000000"
	got, err := nml.Append(nil, nml.Packed, m)
	if err != nil || hex.EncodeToString(got) != want || len(got) != 180 {
		t.Errorf("packed: got %x, %v, want %s", got, err, want)
	}
	if got, err = nml.Append(nil, nml.XDR, m); err != nil || len(got) != 188 {
		t.Errorf("xdr: got %d bytes, %v, want 188", len(got), err)
	}
}

// TestAll: every message of every module passes through each encoding. Disp keeps six decimals, which these values
// have.
func TestAll(t *testing.T) {
	seen := map[string]int32{}
	for _, id := range types() {
		m := filled(id)
		if m.MessageType() != id {
			t.Errorf("type: got %d, want %d", m.MessageType(), id)
		}
		if other := seen[Symbol(id)]; other != 0 {
			t.Errorf("symbol %s: of %d and %d", Symbol(id), other, id)
		}
		seen[Symbol(id)] = id
		for _, e := range []nml.Encoding{nml.Packed, nml.XDR, nml.Disp} {
			b, err := nml.Append(nil, e, m)
			if err != nil {
				t.Errorf("%s %v: %v", Symbol(id), e, err)
				continue
			}
			back, err := nml.DecodeAny(b, e, New)
			if err != nil || !reflect.DeepEqual(back, m) {
				t.Errorf("%s %v: got %+v, %v, want %+v", Symbol(id), e, back, err, m)
			}
			for n := range b {
				if err := nml.Decode(b[:n], e, New(id)); err == nil && e != nml.Disp {
					t.Errorf("%s %v cut at %d of %d: got no error", Symbol(id), e, n, len(b))
					break
				}
			}
		}
	}
	if len(seen) < 140 {
		t.Errorf("types: got %d, want 140 or more", len(seen))
	}
}

func TestModules(t *testing.T) {
	for _, k := range []struct {
		module  string
		role    Role
		name    string
		id      int32
		symbol  string
		vehicle int
		sub     int
		buffer  string
	}{
		{"primMobJA", Cmd, "Vel", 8010, "PrimMobJACmdVel", 1, 0, "primMobJACmd1"},
		{"primMobJA", Cfg, "Debug", 8204, "PrimMobJACfgDebug", 1, 0, "primMobJACfg1"},
		{"servoMisJA", Stat, "", 3101, "ServoMisJAStat", 3, 2, "servoMisJAStat3_2"},
		{"servoMobJA", Set, "GrdVeh", 4302, "ServoMobJASetGrdVeh", 2, 0, "servoMobJASet2"},
		{"amMobJA", Cfg, "VehicleWidth", 11208, "AmMobJACfgVehicleWidth", 1, 0, "amMobJACfg1"},
		{"sectMobPL", Cmd, "Connect", 16007, "SectMobPLCmdConnect", 1, 0, "sectMobPLCmd1"},
		{"amMobJA", Cmd, "Fly", 0, "UNKNOWN", 1, 0, "amMobJACmd1"},
	} {
		m := ModuleNamed(k.module)
		if id := m.ID(k.role, k.name); id != k.id || Symbol(id) != k.symbol ||
			m.Buffer(k.role, k.vehicle, k.sub) != k.buffer {
			t.Errorf("%s %v %s: got %d, %s, %s, want %d, %s, %s", k.module, k.role, k.name, id, Symbol(id),
				m.Buffer(k.role, k.vehicle, k.sub), k.id, k.symbol, k.buffer)
		}
	}
	if ModuleNamed("primMobja") != nil || New(8013) != nil || New(8500) != nil || New(-8010) != nil || New(0) != nil ||
		New(15001) != nil {
		t.Error("what does not exist: got something")
	}
	for _, name := range []string{NavDataBuffer(1), LineScanBuffer(4, 3), SonarBuffer(2), SensorDataBuffer(1, 2)} {
		if !strings.Contains("navDataExt1 servoSPLinescan4_3 servoSPSonarArr2_1 sensorData1_2", name) {
			t.Errorf("buffer: got %s", name)
		}
	}
	if text := Done.String() + Exec.String() + Error.String() + Uninitialized.String() + AdminShutDown.String() +
		Role(9).String(); text !=
		"RCS_DONERCS_EXECRCS_ERRORUNINITIALIZED_STATUSADMIN_SHUT_DOWNrole(9)" {
		t.Errorf("names: got %s", text)
	}
}

func TestTooMany(t *testing.T) {
	for _, m := range []nml.Message{
		&PrimMobCmdMoveWaypoint{Waypoints: make([]Waypoint, MaxWaypoints+1)},
		&PrimMobCmdMoveArcSegment{Arcs: make([]ArcSegment, MaxArcs+1)},
		&SensorData2D{Features: make([]float64, MaxCells+1)},
		&SensorData1D{Features: make([]float64, MaxRays+1)},
		&AMMobStat{Seeds: make([]Cartesian, MaxSeeds+1)},
		&SectMobCmdConnect{Vehicles: make([]int32, MaxVehicles+1)},
	} {
		if _, err := nml.Append(nil, nml.Packed, m); !errors.Is(err, nml.ErrCount) {
			t.Errorf("%s: got %v, want %v", Symbol(m.MessageType()), err, nml.ErrCount)
		}
	}
}

func TestTracker(t *testing.T) {
	var tracker Tracker
	for _, now := range []float64{10, 10.5, 11.5} {
		tracker.Tick(now)
	}
	if want := (Tracker{Count: 3, Last: 11.5, Now: 11.5, Start: 10, Elapsed: 1, Min: 0.5, Max: 1,
		Avg: 0.75}); tracker != want {
		t.Errorf("got %+v, want %+v", tracker, want)
	}
}

func TestPoseAt(t *testing.T) {
	p := PoseAt(Cartesian{1, 2, 3}, RPY{Y: 1.5707963267948966})
	if p.Translation != (Cartesian{1, 2, 3}) || p.S-p.Z > 1e-9 || p.Z-p.S > 1e-9 || p.S < 0.7 || p.X != 0 || p.Y != 0 {
		t.Errorf("a quarter turn: got %+v", p)
	}
}

func FuzzMessages(f *testing.F) {
	for _, id := range types() {
		for _, e := range []nml.Encoding{nml.Packed, nml.XDR, nml.Disp} {
			b, _ := nml.Append(nil, e, filled(id))
			f.Add(b, uint8(e))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, e uint8) {
		encoding := nml.Encoding(e % 3)
		m, err := nml.DecodeAny(b, encoding, New)
		if err != nil {
			return
		}
		again, err := nml.Append(nil, encoding, m)
		if err != nil {
			t.Fatalf("encode %+v: %v", m, err)
		}
		if _, err := nml.DecodeAny(again, encoding, New); err != nil {
			t.Fatalf("decode again: %v", err)
		}
	})
}
