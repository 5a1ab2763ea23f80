package emulator_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	emufeetech "github.com/halyard-robotics/halyard/internal/emulator/feetech"
	emuodrive "github.com/halyard-robotics/halyard/internal/emulator/odrive"
	emuvesc "github.com/halyard-robotics/halyard/internal/emulator/vesc"
	"github.com/halyard-robotics/halyard/internal/wire/feetechwire"
	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/internal/wire/vescwire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/servo/vesc"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// tellLine writes p to a line and returns the bytes received within a time.
func tellLine(t *testing.T, line servo.Line, p []byte, within time.Duration) (got []byte) {
	t.Helper()
	if _, err := line.Write(p); err != nil {
		t.Fatal(err)
	}
	var buf [512]byte
	for until := line.Now() + within; line.Now() < until; {
		n, err := line.Read(buf[:], until-line.Now())
		if err != nil {
			break
		}
		got = append(got, buf[:n]...)
	}
	return got
}

// ODrive's own terminal examples send no checksum; a reply has one if the command had one.
func TestODriveWithoutChecksums(t *testing.T) {
	bus := emulator.NewBus(emulator.BusConfig{Name: "odrive", Baud: 115200},
		emuodrive.New(odrive.ModelByName("odrive-v3"), 0, motorActuator(t, "odrive-v3"), emulator.GroundTruth{}))
	line := bus.Line()
	bare := string(tellLine(t, line, []byte("f 0\n"), 10*time.Millisecond))
	sealed := string(tellLine(t, line, odrivewire.AppendLine(nil, "f 0"), 10*time.Millisecond))
	if !strings.HasSuffix(bare, "\r\n") || strings.Contains(bare, "*") || len(strings.Fields(bare)) != 2 {
		t.Errorf("without a checksum: got %q", bare)
	}
	if !strings.HasPrefix(sealed, strings.TrimSuffix(bare, "\r\n")+"*") {
		t.Errorf("with one: got %q, want %q and a checksum", sealed, bare)
	}
	if got := tellLine(t, line, []byte("f 0*1\n"), 10*time.Millisecond); len(got) > 0 {
		t.Errorf("with a wrong one: got %q", got)
	}
}

// A broadcast ping finds every servo of an arm: they answer one after the other, whole.
func TestFeetechBroadcastPing(t *testing.T) {
	var servos []*emulator.Servo
	m := feetech.ModelByName("sts3215")
	for id := 1; id <= 6; id++ {
		servos = append(servos, emufeetech.New(m, id, light(t, "sts3215"), emulator.GroundTruth{}))
	}
	line := emulator.NewBus(emulator.BusConfig{Name: "arm", Baud: 1000000}, servos...).Line()
	got := tellLine(t, line, feetechwire.AppendPacket(nil,
		&feetechwire.Packet{ID: feetechwire.Broadcast, Code: byte(feetechwire.Ping)}), 50*time.Millisecond)
	var want []byte
	for id := 1; id <= 6; id++ {
		want = feetechwire.AppendPacket(want, &feetechwire.Packet{ID: byte(id)})
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got % X, want % X", got, want)
	}
}

// The maker's examples never enable the torque: a goal takes it on. A servo that an alarm shut down stays limp, and so
// does one in another mode.
func TestFeetechGoalTakesTorqueOn(t *testing.T) {
	for _, c := range []struct {
		name, model string
		presets     []any
		want        int64
	}{
		{"STS", "sts3215", nil, 1},
		{"SCS", "scs0009", nil, 1},
		{"HLS", "hls3930", nil, 1},
		{"PWM mode", "sts3215", []any{"operating_mode", 2}, 0},
	} {
		r := newRig(t, emulator.Timing{}, newFeetech(t, c.model, 1, c.presets...))
		if got := r.register(0, "torque_enable"); got != 0 {
			t.Fatalf("%s: at power-on: got %d, want 0", c.name, got)
		}
		tellLine(t, r.line, feetechwire.AppendPacket(nil,
			&feetechwire.Packet{ID: 1, Code: byte(feetechwire.Write), Params: []byte{42, 0, 2}}), 2*time.Millisecond)
		if got := r.register(0, "torque_enable"); got != c.want {
			t.Errorf("%s: torque_enable after a goal: got %d, want %d", c.name, got, c.want)
		}
	}
}

// VESC Tool reads more of the firmware's answer than a version and a name: a number, whether it is paired, what it is.
func TestVESCFirmwareAnswer(t *testing.T) {
	line := emulator.NewBus(emulator.BusConfig{Name: "vesc", Baud: 115200},
		emuvesc.New(vesc.ModelByName("vesc-6"), 5, motorActuator(t, "vesc-6"), emulator.GroundTruth{})).Line()
	p := vescwire.NewParser()
	p.Feed(tellLine(t, line, vescwire.AppendPacket(nil, []byte{byte(vescwire.FWVersion)}), 50*time.Millisecond))
	payload := p.Next()
	name, rest, ok := bytes.Cut(payload[min(3, len(payload)):], []byte{0})
	if !ok || payload[1] != 6 || payload[2] != 5 || string(name) != "60_MK6" || len(rest) != 12+8+1+4 {
		t.Errorf("got % X: %d bytes behind the name, want a number of 12, 8 flags, an empty name and a sum", payload,
			len(rest))
	}
}
