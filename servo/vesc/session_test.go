package vesc

import (
	"encoding/binary"
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/vescwire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// play is a line that goes by a session's text, whose packets are payloads alone.
func play(t *testing.T, text string) *servotest.Playback {
	t.Helper()
	text = regexp.MustCompile(`(?m)^([><+]) ([0-9A-F ]+)$`).ReplaceAllStringFunc(text, func(line string) string {
		return line[:2] + strings.ToUpper(hexOf(vescwire.AppendPacket(nil, servotest.Hex(t, line[2:]))))
	})
	turns, err := servotest.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return servotest.NewPlayback(Baud, turns...)
}

func hexOf(b []byte) string {
	const digits = "0123456789ABCDEF"
	var s strings.Builder
	for _, c := range b {
		s.WriteByte(digits[c>>4])
		s.WriteByte(digits[c&15])
	}
	return s.String()
}

// reply is an answer to the chain's usual question.
func reply(t *testing.T, set map[vescwire.Field]float64) string {
	t.Helper()
	v := vescwire.Values{vescwire.ControllerID: 1, vescwire.Volts: 24, vescwire.TempFET: 30, vescwire.TachoAbs: 100,
		vescwire.PosNow: 180}
	for f, x := range set {
		v[f] = x
	}
	asked := question("vesc-6")
	if _, ok := set[vescwire.Tacho]; ok {
		asked = question("vesc-6-hall")
	}
	return hexOf(v.Append(binary.BigEndian.AppendUint32([]byte{byte(vescwire.Selective)}, asked), asked))
}

func question(model string) uint32 { return ModelByName(model).asked() }

// opening is what the chain asks at first, of the controller at the line's end, id 1.
const opening = `
# who is at the end
> 32 00 02 81 00
< 32 00 02 81 00 00 F0 00 01
# firmware 6.05
> 00
< 00 06 05 36 30 00
# 14 poles
> 5B
< 5B 3F800000 3F800000 C7C35000 47C35000 3BA3D70A 3F733333 C9B71B00 49B71B00 C2700000 42C60000 0E 40400000 3DA9FBE7
# a timeout of 1 s
> 11
< 11 01020304 01 000003E8 00000000 0000
`

// forwarded is the opening of a controller with id 7 behind the first.
var forwarded = strings.NewReplacer("> 00\n", "> 22 07 00\n", "> 5B", "> 22 07 5B", "> 11\n< 11 01020304 01",
	"> 22 07 11\n< 11 01020304 07").Replace(opening)

// protocolChain is a chain with its protocol.
type protocolChain struct {
	*servo.GenericChain
	b *protocol
}

func open(t *testing.T, text string, motors ...servo.ServoConfig) (*protocolChain, *servotest.Playback) {
	t.Helper()
	line := play(t, strings.ReplaceAll(text, "ASK", "32 00 01 E1 E1"))
	b := newProtocol(servo.ChainConfig{Name: "wheels", Line: line, Servos: motors})
	return &protocolChain{b.chain, b}, line
}

func cycle(t *testing.T, c *protocolChain, g servo.Goal) {
	t.Helper()
	c.SetGoal(0, g)
	if err := errors.Join(c.Send(), c.Receive()); err != nil {
		t.Fatal(err)
	}
}

func TestChainSession(t *testing.T) {
	ask := hexOf(vescwire.AppendSelective(nil, question("vesc-6")))
	ask = strings.ReplaceAll(opening+`
# torque off: commanded, and measured
> 0600000000
> ASK
< `+reply(t, nil)+`
# the health read: torque off, with the request
> 0600000000
+ ASK
< `+reply(t, nil)+`
# torque: where it stands, in degrees
> 090ABA9500
> ASK
< `+reply(t, map[vescwire.Field]float64{vescwire.CurrentQ: 1.5})+`
# a goal beyond the turn's end, as far as it cannot be taken for one the other way round
> 09157529FF
> ASK
< `+reply(t, map[vescwire.Field]float64{vescwire.CurrentQ: 1.5, vescwire.ERPM: 700, vescwire.PosNow: 200})+`
# a fault takes the torque; from then on nothing is written
> 08 000007D0
> ASK
< `+reply(t, map[vescwire.Field]float64{vescwire.FaultCode: 4})+`
> ASK
< `+reply(t, nil)+`
`, "ASK", ask)
	ask = strings.ReplaceAll(ask, "09157529FF", hexOf(vescwire.AppendSet(nil, vescwire.SetPos, 180+0.45*360)))
	ask = strings.ReplaceAll(ask, "08 000007D0", hexOf(vescwire.AppendSet(nil, vescwire.SetRPM, 10/rpm*7)))
	c, line := open(t, ask, servo.ServoConfig{ID: 1, Model: ModelByName("vesc-6"), Joint: "wheel"})
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	cycle(t, c, servo.Goal{})
	if s := c.State(0); s.Position != TicksPerTurn/2 || s.Torque || s.Voltage != 24 || s.Temperature != 30 {
		t.Errorf("limp: got %+v", s)
	}
	cycle(t, c, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
	cycle(t, c, servo.Goal{Enable: true, Mode: hal.PositionMode, Position: 1e6, Limit: 1})
	if s := c.State(0); !s.Torque || s.Effort != 1.5 || math.Abs(s.Velocity-100*rpm) > 1e-9 || s.Err != nil {
		t.Errorf("driven: got %+v", s)
	}
	g := servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 10, Limit: 1}
	cycle(t, c, g)
	if s := c.State(0); s.Alarm != servo.AlarmShock || s.Torque || !errors.Is(c.Fault(0), servo.ErrLatched) {
		t.Errorf("fault: got %+v, %v", s, c.Fault(0))
	}
	c.SetGoal(0, g)
	if err := c.Send(); err != nil {
		t.Fatal(err)
	}
	if err := c.Receive(); err != nil {
		t.Fatal(err)
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}

// One behind the first is reached through it; its answers are bare and carry its id.
func TestForwarded(t *testing.T) {
	ask := hexOf(vescwire.AppendSelective(nil, question("vesc-6-hall")))
	// Its configuration goes over the CAN bus first, and then over the line.
	text := strings.Replace(forwarded, "000003E8 00000000 0000\n", "000003E8 00000000 0000\nafter 60ms\n", 1)
	c, line := open(t, strings.ReplaceAll(text+`
> 22 07 ASK
< `+reply(t, map[vescwire.Field]float64{vescwire.ControllerID: 1, vescwire.Tacho: 0})+`
> 22 07 ASK
< `+reply(t, map[vescwire.Field]float64{vescwire.ControllerID: 7, vescwire.Tacho: -42, vescwire.PosNow: 0})+`
`, "ASK", ask), servo.ServoConfig{ID: 7, Model: ModelByName("vesc-6-hall")})
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	// A late reply of the first controller is not taken for one of the second.
	c.Receive()
	if s := c.State(0); !errors.Is(s.Err, servo.ErrNoReply) {
		t.Errorf("another's answer: got %v", s.Err)
	}
	c.Receive()
	// 42 sixths of electrical turns are one turn of 7 pole pairs.
	if s := c.State(0); s.Err != nil || s.Position != -TicksPerTurn {
		t.Errorf("tachometer: got %+v", s)
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}

// A stop reaches a controller behind the first also while it is not known which one is first, as on a line just
// reopened.
func TestStopBeforeFirstIsKnown(t *testing.T) {
	c, line := open(t, `
> 0600000000
+ 22 07 0600000000
`+forwarded+`
> 22 07 0600000000
`, servo.ServoConfig{ID: 7, Model: ModelByName("vesc-6-hall")})
	if err := errors.Join(c.CutTorque(), c.Open(), c.CutTorque()); err != nil {
		t.Fatal(err)
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}

// A controller that would go on without us, and one too old, are refused and left alone.
func TestRefused(t *testing.T) {
	for _, x := range []struct {
		old, new, want string
		kind           hal.Kind
	}{
		{"000003E8", "00000000", "timeout: got 0s", hal.Unsafe},
		{"000003E8", "FFFFFFFF", "timeout: got 596h", hal.Unsafe},
		{"< 00 06 05", "< 00 03 40", "firmware: got 3.64, want 5.02 or later", hal.BusFault},
	} {
		text := strings.Replace(opening, x.old, x.new, 1) + "> 0600000000\n"
		c, _ := open(t, text, servo.ServoConfig{ID: 1, Model: ModelByName("vesc-6")})
		err := c.Open()
		if err == nil || hal.KindOf(err) != x.kind || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %v", x.want, err)
		}
		if !c.Devices[0].Barred {
			t.Errorf("%s: not left alone", x.want)
		}
	}
	c, _ := open(t, "> any\n< silence\n> any\n< silence\n", servo.ServoConfig{ID: 1, Model: ModelByName("vesc-6")})
	if err := c.Open(); hal.KindOf(err) != hal.Absent {
		t.Errorf("no controller: got %v", err)
	}
	c, _ = open(t, "", servo.ServoConfig{ID: 1})
	if err := c.Open(); hal.KindOf(err) != hal.Invalid {
		t.Errorf("no model: got %v", err)
	}
}

// The counter of turns begins again with the power: torque is not given back by itself.
func TestPowerLost(t *testing.T) {
	ask := hexOf(vescwire.AppendSelective(nil, question("vesc-6")))
	c, line := open(t, strings.ReplaceAll(opening+`
> ASK
< `+reply(t, nil)+`
> 0600000000
> ASK
< `+reply(t, nil)+`
> 0600000000
+ ASK
< `+reply(t, nil)+`
> 0500000000
> ASK
< `+reply(t, nil)+`
> 0500004E20
> ASK
< `+reply(t, map[vescwire.Field]float64{vescwire.TachoAbs: 3})+`
# no goal; torque off
> 0600000000
`, "ASK", ask), servo.ServoConfig{ID: 1, Model: ModelByName("vesc-6")})
	if err := errors.Join(c.Open(), c.Receive()); err != nil {
		t.Fatal(err)
	}
	cycle(t, c, servo.Goal{})
	g := servo.Goal{Enable: true, Mode: hal.DutyMode, Duty: 0.2, Limit: 1}
	cycle(t, c, g)
	cycle(t, c, g)
	if !errors.Is(c.Fault(0), servo.ErrPowerLost) || c.State(0).Torque {
		t.Errorf("got %v, %+v", c.Fault(0), c.State(0))
	}
	c.SetGoal(0, g)
	if err := c.Send(); err != nil {
		t.Error(err)
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}

func TestHaltSession(t *testing.T) {
	ask := hexOf(vescwire.AppendSelective(nil, question("vesc-6")))
	c, line := open(t, strings.ReplaceAll(opening+`
> 0600000000
> 0600000000
# it still pushes, then no longer
> 0600000000
+ ASK
< `+reply(t, map[vescwire.Field]float64{vescwire.CurrentQ: 8})+`
> 0600000000
> 0600000000
+ ASK
< `+reply(t, nil)+`
`, "ASK", ask), servo.ServoConfig{ID: 1, Model: ModelByName("vesc-6")})
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	if faults := c.Halt(); faults[0] != nil {
		t.Error(faults[0])
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}

func TestClientSession(t *testing.T) {
	line := play(t, opening+`> 32 00 02 81 00
< 32 00 02 81 00 00 F0 00 01

# who is behind
> 3E
< 3E 07 09
> 3E
< 3E
`)
	c := Driver().Tool(line, servo.ToolConfig{})
	f, err := c.Identify(1)
	if err != nil || f.Firmware != "6.05" || f.Note != "VESC firmware 6.05 on 60: 7 pole pairs, timeout 1s, none" {
		t.Errorf("got %+v, %v", f, err)
	}
	for _, want := range [][]int{{1, 7, 9}, {1}} {
		if ids, ok, err := c.List(); err != nil || !ok || !slices.Equal(ids, want) {
			t.Errorf("list: got %v, %v, %v; want %v", ids, ok, err, want)
		}
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}

// A controller of before 5.2 does not know the question for its poles: it is too old, not absent.
func TestOld(t *testing.T) {
	text := strings.Replace(opening[:strings.Index(opening, "# 14 poles")], "00 06 05", "00 05 01", 1)
	c, line := open(t, text, servo.ServoConfig{ID: 1, Model: ModelByName("vesc-6")})
	if err := c.Open(); err == nil || !strings.Contains(err.Error(), "firmware: got 5.01, want 5.02 or later") {
		t.Errorf("got %v", err)
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}

// To hold after a speed is to stay where it is then, not to go back to where torque went on.
func TestHoldsWhereItIs(t *testing.T) {
	c, _ := open(t, "", servo.ServoConfig{ID: 1, Model: ModelByName("vesc-6")})
	dev := &c.Devices[0]
	dev.State.Position = 0
	c.b.StageTorqueOn(0, 0)
	dev.Goal.Mode = hal.VelocityMode
	c.b.StageGoal(0)
	dev.Goal.Mode, dev.State.Position = hal.NoMode, TicksPerTurn/4
	for range 2 {
		c.b.link.Out = c.b.link.Out[:0]
		c.b.StageGoal(0)
		dev.State.Position = TicksPerTurn / 3
		if _, at, ok := vescwire.ParseSet(vescwire.Body(c.b.link.Out)); !ok || at != 90 {
			t.Errorf("got %g degrees, want 90", at)
		}
	}
}

// The limit of a joint's torque holds in torque mode alone, and goals beyond the model are cut; docs/motors.md says so.
func TestLimits(t *testing.T) {
	c, _ := open(t, "", servo.ServoConfig{ID: 1, Model: ModelByName("vesc-6")})
	m, dev := ModelByName("vesc-6"), &c.Devices[0]
	c.b.devices[0].pairs = 7
	dev.State.Position = TicksPerTurn / 2
	for _, x := range []struct {
		goal    servo.Goal
		command vescwire.Command
		want    float64
	}{
		{servo.Goal{Mode: hal.TorqueMode, Effort: -1e3, Limit: 0.25}, vescwire.SetCurrent, -0.25 * m.Amps},
		{servo.Goal{Mode: hal.TorqueMode, Effort: 5, Limit: 0.25}, vescwire.SetCurrent, 5},
		{servo.Goal{Mode: hal.TorqueMode, Effort: math.NaN(), Limit: 1}, vescwire.SetCurrent, 0},
		{servo.Goal{Mode: hal.DutyMode, Duty: 3, Limit: 0.25}, vescwire.SetDuty, 1},
		{servo.Goal{Mode: hal.VelocityMode, Velocity: -1e6, Limit: 0.25}, vescwire.SetRPM, -m.Velocity / rpm * 7},
		{servo.Goal{Mode: hal.PositionMode, Position: TicksPerTurn / 4, Limit: 0.25}, vescwire.SetPos, 90},
	} {
		dev.Goal = x.goal
		c.b.link.Out = c.b.link.Out[:0]
		c.b.StageGoal(0)
		if k, v, ok := vescwire.ParseSet(vescwire.Body(c.b.link.Out)); !ok || k != x.command ||
			math.Abs(v-x.want) > 1 && k == vescwire.SetRPM ||
			math.Abs(v-x.want) > 1e-3 && k != vescwire.SetRPM {
			t.Errorf("%+v: got %d %g, want %d %g", x.goal, k, v, x.command, x.want)
		}
	}
}

// The tachometer wraps at 32 bits, after days of turning: that is no restart, which takes the torque. A restart still
// is one.
func TestTachometerWraps(t *testing.T) {
	turns := func(n float64) string { return reply(t, map[vescwire.Field]float64{vescwire.TachoAbs: n}) }
	ask := hexOf(vescwire.AppendSelective(nil, question("vesc-6")))
	c, line := open(t, strings.ReplaceAll(opening+`
> 0600000000
> ASK
< `+turns(math.MaxInt32-40)+`
> 0600000000
+ ASK
< `+turns(math.MaxInt32-40)+`
> 08 00000000
> ASK
< `+turns(math.MaxInt32-20)+`
> 08 `+hexOf(vescwire.AppendSet(nil, vescwire.SetRPM, 10/rpm*7))[2:]+`
> ASK
< `+turns(math.MinInt32+20)+`
> 08 `+hexOf(vescwire.AppendSet(nil, vescwire.SetRPM, 10/rpm*7))[2:]+`
> ASK
< `+turns(0)+`
`, "ASK", ask), servo.ServoConfig{ID: 1, Model: ModelByName("vesc-6"), Joint: "wheel"})
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	cycle(t, c, servo.Goal{})
	g := servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 10, Limit: 1}
	for range 2 {
		cycle(t, c, g)
	}
	if err := c.Fault(0); err != nil || !c.State(0).Torque {
		t.Errorf("wrapped: got torque %v, %v", c.State(0).Torque, err)
	}
	cycle(t, c, g)
	if err := c.Fault(0); !errors.Is(err, servo.ErrPowerLost) {
		t.Errorf("restarted: got %v, want %v", err, servo.ErrPowerLost)
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}
