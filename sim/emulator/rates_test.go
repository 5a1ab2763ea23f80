package emulator_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	emudynamixel "github.com/halyard-robotics/halyard/internal/emulator/dynamixel"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// published is the QUADDXL column of Bestmann, Güldenstein, Zhang: "High-Frequency Multi Bus Servo and Sensor
// Communication Using the Dynamixel Protocol" (RoboCup 2019), by buses and then by 1, 2 and 4 Mbaud.
func published() [4][3]float64 {
	return [4][3]float64{{149, 261, 398}, {285, 497, 744}, {390, 670, 1003}, {524, 923, 1373}}
}

// One delay a reply, fitted once, must give the published rates of real servos: 20 MX-64 on some buses, of which the
// fullest sets the rate, one sync write of 4 bytes and one sync read of 10 bytes each a cycle.
func TestRatesMatchThePublishedOnes(t *testing.T) {
	// One cell more was measured through a USB2DXL, on one bus at 1 Mbaud and 2 Mbaud each.
	close, cells := 0, 0
	count := func(hz, published float64) float64 {
		off := hz/published - 1
		if cells++; math.Abs(off) <= 0.10 {
			close++
		}
		return 100 * off
	}
	usb2dxl := []float64{153, 272}
	for k, row := range published() {
		for i, mbaud := range []int{1, 2, 4} {
			buses := k + 1
			servos := (20 + buses - 1) / buses
			hz, wire, err := cycleRate(servos, mbaud*1e6, false, emulator.Timing{Reply: emulator.DefaultReply})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d Mbaud, %d buses (%2d servos): wire %4.0f Hz, emulated %4.0f Hz, published %4.0f Hz, %+.1f %%",
				mbaud, buses, servos, wire, hz, row[i], count(hz, row[i]))
			if buses == 1 && i < len(usb2dxl) {
				t.Logf("%d Mbaud, 1 bus, USB2DXL: published %4.0f Hz, %+.1f %%", mbaud, usb2dxl[i],
					count(hz, usb2dxl[i]))
			}
		}
	}
	if close < 13 {
		t.Errorf("within 10 %%: got %d of %d cells, want 13", close, cells)
	}
}

func TestFastSyncReadRate(t *testing.T) {
	hz, wire, err := cycleRate(20, 1_000_000, true, emulator.Timing{Reply: emulator.DefaultReply})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("fast sync read, 20 servos, 1 Mbaud: %.1f Hz of %.1f", hz, wire)
	if hz < 200 {
		t.Errorf("got %.1f Hz, want 200", hz)
	}
}

// The wire itself, against the formulas of the datasheets.
func TestWireTime(t *testing.T) {
	for _, x := range []struct {
		n, baud int
		fast    bool
		hz      float64
	}{
		{20, 1_000_000, false, 176}, {20, 2_000_000, false, 352}, {20, 4_000_000, false, 704},
		{10, 1_000_000, false, 335.6}, {5, 4_000_000, false, 2454}, {20, 1_000_000, true, 229.4},
	} {
		hz, wire, err := cycleRate(x.n, x.baud, x.fast, emulator.Timing{})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(wire/x.hz-1) > 0.002 || math.Abs(hz/wire-1) > 1e-3 {
			t.Errorf("%d servos, %d baud: got %.1f Hz, wire %.1f, want %.1f", x.n, x.baud, hz, wire, x.hz)
		}
	}
}

// LeRobot's measurements of six servos at 1 Mbaud (pull request 3456): whole USB frames, however short the wire time.
func TestFrames(t *testing.T) {
	for _, x := range []struct {
		latency, frame time.Duration
		turns          int
		want           time.Duration
	}{
		{0, time.Millisecond, 1, time.Millisecond},
		{0, time.Millisecond, 3, 3 * time.Millisecond},
		{0, time.Millisecond, 4, 4 * time.Millisecond},
		{16 * time.Millisecond, 125 * time.Microsecond, 3, 48 * time.Millisecond}, // FTDI from the factory
		{time.Millisecond, 125 * time.Microsecond, 3, 3 * time.Millisecond},
	} {
		r := newRig(t, emulator.Timing{Frame: x.frame, Latency: x.latency},
			newServo(t, "xm430-w350", 1, "return_delay", 0))
		start := r.line.Now()
		for range x.turns {
			r.line.Write(unhex(t, "FF FF FD 00 01 07 00 02 84 00 04 00 1D 15"))
			for got := 0; got < 15; {
				n, err := r.line.Read(make([]byte, 64), time.Second)
				if err != nil {
					t.Fatal(err)
				}
				got += n
			}
		}
		if got := r.line.Now() - start; got != x.want {
			t.Errorf("latency %v, frame %v: %d turns: got %v, want %v", x.latency, x.frame, x.turns, got, x.want)
		}
	}
}

// cycleRate is the cycle rate, Hz, of n MX-64 (protocol 2.0, return delay 0) on one line with a sync write of 4 bytes
// each and a sync read, or fast sync read, of 10 bytes each. wire is the rate by only the wire time.
func cycleRate(n, baud int, fast bool, timing emulator.Timing) (hz, wire float64, err error) {
	spec, ok := actuator.Lookup("mx-64-2")
	model := dynamixel.ModelByName("mx-64-2")
	if !ok || model == nil {
		return 0, 0, errors.New("mx-64-2: no such model")
	}
	// Current, velocity and position lie next to each other: 2 + 4 + 4 bytes.
	write := dynamixel.Instruction{ID: dynamixel.Broadcast, Op: dynamixel.SyncWrite}
	read := dynamixel.Instruction{ID: dynamixel.Broadcast, Op: dynamixel.SyncRead, Size: 10}
	write.Addr, read.Addr = model.Register("goal_position").Addr, model.Register("present_current").Addr
	answer := n * (11 + 10)
	if fast {
		read.Op, answer = dynamixel.FastSyncRead, 8+n*(4+10)
	}
	var servos []*emulator.Servo
	for id := 1; id <= n; id++ {
		s := emudynamixel.New(model, id, actuator.NewServo(spec), emulator.GroundTruth{})
		s.Preset("return_delay", 0)
		servos = append(servos, s)
		write.Blocks = append(write.Blocks, dynamixel.Block{ID: byte(id), Data: []byte{0, 8, 0, 0}})
		read.Blocks = append(read.Blocks, dynamixel.Block{ID: byte(id)})
	}
	line := emulator.NewBus(emulator.BusConfig{Name: "rate", Baud: baud, Timing: timing}, servos...).Line()
	goals, ask := dynamixel.AppendInstruction2(nil, &write), dynamixel.AppendInstruction2(nil, &read)

	const cycles = 50
	var buf [256]byte
	start := line.Now()
	for range cycles {
		line.Write(goals)
		line.Write(ask)
		for got := 0; got < answer; {
			k, err := line.Read(buf[:], time.Second)
			if err != nil {
				return 0, 0, fmt.Errorf("%d servos at %d baud: got %d of %d bytes: %w", n, baud, got, answer, err)
			}
			got += k
		}
	}
	hz = cycles / (line.Now() - start).Seconds()
	return hz, 1 / servo.WireTime(len(goals)+len(ask)+answer, 10, baud).Seconds(), nil
}
