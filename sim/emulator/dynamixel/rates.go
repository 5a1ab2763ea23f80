package dynamixel

import (
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// Rate is one cell of a table of cycle rates: 20 MX-64 on some buses side by side, one sync write of 4 bytes and one
// sync read of 10 bytes each a cycle.
type Rate struct {
	Baud      int     // bit/s
	Buses     int     // side by side; the fullest sets the rate
	Servos    int     // on the fullest
	Wire      float64 // cycles a second by only the wire time
	Hz        float64 // cycles a second of the emulator
	Published float64 // measured by Bestmann and others, QUADDXL column; 0 = none
}

// published is the QUADDXL column of Bestmann, Güldenstein, Zhang: "High-Frequency Multi Bus Servo and Sensor
// Communication Using the Dynamixel Protocol" (RoboCup 2019), by buses and then by 1, 2 and 4 Mbaud.
func published() [4][3]float64 {
	return [4][3]float64{{149, 261, 398}, {285, 497, 744}, {390, 670, 1003}, {524, 923, 1373}}
}

// Rates runs the whole table, byte for byte.
func Rates(timing emulator.Timing) ([]Rate, error) {
	var all []Rate
	for buses, row := range published() {
		for i, baud := range []int{1_000_000, 2_000_000, 4_000_000} {
			r := Rate{Baud: baud, Buses: buses + 1, Published: row[i]}
			r.Servos = (20 + buses) / r.Buses
			var err error
			if r.Hz, r.Wire, err = CycleRate(r.Servos, baud, false, timing); err != nil {
				return nil, err
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// CycleRate is the cycle rate, Hz, of n MX-64 (protocol 2.0, return delay 0) on one line with a sync write of 4 bytes each
// and a sync read, or fast sync read, of 10 bytes each. wire is the rate by only the wire time.
func CycleRate(n, baud int, fast bool, timing emulator.Timing) (hz, wire float64, err error) {
	spec, ok := actuator.Lookup("mx-64-2")
	model := dynamixel.ModelByName("mx-64-2")
	if !ok || model == nil {
		return 0, 0, fmt.Errorf("emulator: cycle rate: mx-64-2: no such model")
	}
	// Current, velocity and position lie side by side: 2 + 4 + 4 bytes.
	write := dynamixel.Instruction{ID: dynamixel.Broadcast, Op: dynamixel.SyncWrite}
	read := dynamixel.Instruction{ID: dynamixel.Broadcast, Op: dynamixel.SyncRead, Size: 10}
	write.Addr, read.Addr = model.Register("goal_position").Addr, model.Register("present_current").Addr
	answer := n * (11 + 10)
	if fast {
		read.Op, answer = dynamixel.FastSyncRead, 8+n*(4+10)
	}
	var servos []*emulator.Servo
	for id := 1; id <= n; id++ {
		s := New(model, id, actuator.NewServo(spec), emulator.GroundTruth{})
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
				return 0, 0, fmt.Errorf("emulator: %d servos at %d baud: got %d of %d bytes: %w", n, baud, got, answer, err)
			}
			got += k
		}
	}
	hz = cycles / (line.Now() - start).Seconds()
	return hz, 1 / servo.WireTime(len(goals)+len(ask)+answer, 10, baud).Seconds(), nil
}
