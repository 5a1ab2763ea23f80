package emulator_test

import (
	"encoding/hex"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	emudynamixel "github.com/halyard-robotics/halyard/internal/emulator/dynamixel"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// newServo is a servo with a light load, set up by name=value pairs.
func newServo(t testing.TB, model string, id int, presets ...any) *emulator.Servo {
	t.Helper()
	m := dynamixel.ModelByName(model)
	spec, ok := actuator.Lookup(model)
	if m == nil || !ok {
		t.Fatalf("no model %q", model)
	}
	act := actuator.NewServo(spec)
	act.Load.Inertia = 1e-4
	s := emudynamixel.New(m, id, act, emulator.GroundTruth{})
	preset(t, s, presets...)
	return s
}

func preset(t testing.TB, s *emulator.Servo, presets ...any) {
	t.Helper()
	for i := 0; i < len(presets); i += 2 {
		if !s.Preset(presets[i].(string), int64(presets[i+1].(int))) {
			t.Fatalf("%s: cannot set %v to %v", dynamixel.ModelByName(s.Name()).Name, presets[i], presets[i+1])
		}
	}
}

// rig is one bus in memory with a host that speaks in hexadecimal.
type rig struct {
	testing.TB
	bus    *emulator.Bus
	line   servo.Line
	servos []*emulator.Servo
}

func newRig(t testing.TB, timing emulator.Timing, servos ...*emulator.Servo) *rig {
	b := emulator.NewBus(emulator.BusConfig{Name: "bench", Baud: 1000000, Timing: timing}, servos...)
	return &rig{t, b, b.Line(), servos}
}

// ask sends bytes and returns all received bytes until the line has been idle for 20 ms.
func (r *rig) ask(request string) string {
	r.Helper()
	if _, err := r.line.Write(unhex(r, request)); err != nil {
		r.Fatal(err)
	}
	return tohex(r.listen(20 * time.Millisecond))
}

func (r *rig) listen(still time.Duration) []byte {
	r.Helper()
	var got []byte
	for {
		var b [64]byte
		n, err := r.line.Read(b[:], still)
		got = append(got, b[:n]...)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return got
		}
		if err != nil {
			r.Fatal(err)
		}
	}
}

// want checks one request and its answer, "" = silence.
func (r *rig) want(request, answer string) {
	r.Helper()
	if got := r.ask(request); got != tohex(unhex(r, answer)) {
		r.Errorf("%s\n got %s\nwant %s", request, got, answer)
	}
}

// pass lets the physics and the bus run.
func (r *rig) pass(d time.Duration) {
	for ; d > 0; d -= time.Millisecond {
		for _, s := range r.servos {
			s.Actuator().Step(0.001)
		}
		r.bus.Advance(time.Millisecond)
	}
}

func (r *rig) register(i int, name string) int64 {
	r.Helper()
	v, ok := r.servos[i].Register(name)
	if !ok {
		r.Fatalf("no register %q", name)
	}
	return v
}

// execute sends an instruction built by the codec and returns the first reply, or false without one.
func (r *rig) execute(protocol int, in dynamixel.Instruction) (dynamixel.Status, bool) {
	r.Helper()
	var p []byte
	if protocol == 1 {
		p = dynamixel.AppendInstruction1(nil, &in)
	} else {
		p = dynamixel.AppendInstruction2(nil, &in)
	}
	if _, err := r.line.Write(p); err != nil {
		r.Fatal(err)
	}
	parser := dynamixel.NewParser(protocol, dynamixel.FromServos)
	got := r.listen(20 * time.Millisecond)
	parser.Feed(got)
	var k dynamixel.Packet
	if !parser.Next(&k) {
		return dynamixel.Status{}, false
	}
	if protocol == 1 {
		return k.Status1(), true
	}
	return k.Status2()
}

// write sets a register by name over the bus and returns the error byte; -1 = silence.
func (r *rig) write(i int, name string, v int64) int {
	r.Helper()
	s := r.servos[i]
	reg := dynamixel.ModelByName(s.Name()).Register(name)
	if reg == nil {
		r.Fatalf("no register %q", name)
	}
	id, _ := s.Register("id")
	st, ok := r.execute(dynamixel.ModelByName(s.Name()).Protocol, dynamixel.Instruction{
		ID: byte(id), Op: dynamixel.Write, Addr: reg.Addr, Data: reg.Append(nil, v),
	})
	if !ok {
		return -1
	}
	return int(st.Error)
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return b
}

func tohex(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) }

// place turns a servo's shaft to a tick, at rest.
func place(s *emulator.Servo, ticks float64) {
	m := dynamixel.ModelByName(s.Name())
	s.Actuator().Reset((ticks - m.Centre) * 2 * math.Pi / m.TicksPerTurn)
}

// at sets the supply of a servo.
func at(s *emulator.Servo, volts float64) { s.Actuator().Supply = actuator.NewSupply(volts, 0) }
