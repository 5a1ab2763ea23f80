package dynamixel

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// The table of wire times (hardware.md, section 7), ms: a sync write of 4 bytes and a read of 4 bytes, by sync read,
// fast sync read and reads one by one, of 6, 12, 18 and 20 servos. The packets are those of the codec, so that the
// formulas, the table and what is really sent agree.
func TestWireTimes(t *testing.T) {
	for _, c := range []struct {
		baud  int
		delay time.Duration
		ms    [4][3]float64
	}{
		{57600, 0, [4][3]float64{{26.74, 20.83, 37.85}, {48.61, 35.42, 73.26}, {70.49, 50.00, 108.68},
			{77.78, 54.86, 120.49}}},
		{115200, 0, [4][3]float64{{13.37, 10.42, 18.92}, {24.31, 17.71, 36.63}, {35.24, 25.00, 54.34},
			{38.89, 27.43, 60.24}}},
		{1000000, 0, [4][3]float64{{1.54, 1.20, 2.18}, {2.80, 2.04, 4.22}, {4.06, 2.88, 6.26}, {4.48, 3.16, 6.94}}},
		{2000000, 0, [4][3]float64{{0.77, 0.60, 1.09}, {1.40, 1.02, 2.11}, {2.03, 1.44, 3.13}, {2.24, 1.58, 3.47}}},
		{3000000, 0, [4][3]float64{{0.51, 0.40, 0.73}, {0.93, 0.68, 1.41}, {1.35, 0.96, 2.09}, {1.49, 1.05, 2.31}}},
		{4000000, 0, [4][3]float64{{0.39, 0.30, 0.55}, {0.70, 0.51, 1.05}, {1.01, 0.72, 1.56}, {1.12, 0.79, 1.74}}},
		{57600, 250 * time.Microsecond, [4][3]float64{{28.24, 21.08, 39.35}, {51.61, 35.67, 76.26},
			{74.99, 50.25, 113.18}, {82.78, 55.11, 125.49}}},
		{115200, 250 * time.Microsecond, [4][3]float64{{14.87, 10.67, 20.42}, {27.31, 17.96, 39.63},
			{39.74, 25.25, 58.84}, {43.89, 27.68, 65.24}}},
		{1000000, 250 * time.Microsecond, [4][3]float64{{3.04, 1.45, 3.68}, {5.80, 2.29, 7.22}, {8.56, 3.13, 10.76},
			{9.48, 3.41, 11.94}}},
		{2000000, 250 * time.Microsecond, [4][3]float64{{2.27, 0.85, 2.59}, {4.40, 1.27, 5.11}, {6.53, 1.69, 7.63},
			{7.24, 1.83, 8.47}}},
		{3000000, 250 * time.Microsecond, [4][3]float64{{2.01, 0.65, 2.23}, {3.93, 0.93, 4.41}, {5.85, 1.21, 6.59},
			{6.49, 1.30, 7.31}}},
		{4000000, 250 * time.Microsecond, [4][3]float64{{1.89, 0.55, 2.04}, {3.70, 0.76, 4.05}, {5.51, 0.97, 6.06},
			{6.12, 1.04, 6.73}}},
	} {
		for i, n := range []int{6, 12, 18, 20} {
			write, sync, one, fast := Instruction{ID: Broadcast, Op: SyncWrite, Addr: 116},
				Instruction{ID: Broadcast, Op: SyncRead, Addr: 132, Size: 4}, 0, 0
			var parts []Status
			for id := range byte(n) {
				write.Blocks = append(write.Blocks, Block{ID: id + 1, Data: make([]byte, 4)})
				sync.Blocks = append(sync.Blocks, Block{ID: id + 1})
				parts = append(parts, Status{ID: id + 1, Data: make([]byte, 4)})
				one += len(AppendInstruction2(nil, &Instruction{ID: id + 1, Op: Read, Addr: 132, Size: 4}))
			}
			told, asked := len(AppendInstruction2(nil, &write)), len(AppendInstruction2(nil, &sync))
			answers := n * len(AppendStatus2(nil, &parts[0]))
			fast = len(AppendFastStatus(nil, parts))
			time := func(bytes, delays int) float64 {
				return 1e3 * (servo.WireTime(bytes, bitsPerByte, c.baud).Seconds() + float64(delays)*c.delay.Seconds())
			}
			for k, got := range []float64{time(told+asked+answers, n), time(told+asked+fast, 1),
				time(told+one+answers, n)} {
				if want := c.ms[i][k]; math.Abs(got-want) > 0.0051 {
					t.Errorf("%d baud, delay %v, %d servos, column %d: got %.3f ms, want %.2f", c.baud, c.delay, n, k,
						got, want)
				}
			}
		}
	}
	// AX-12: reads of 6 bytes one by one, 18 servos at 1 Mbaud.
	bytes := 8 + 18*5 + 18*(len(AppendInstruction1(nil, &Instruction{ID: 1, Op: Read, Addr: 36, Size: 6}))+
		len(AppendStatus1(nil, &Status{ID: 1, Data: make([]byte, 6)})))
	if got := servo.WireTime(bytes, bitsPerByte, 1000000).Seconds() * 1e3; math.Abs(got-4.58) > 0.001 {
		t.Errorf("AX-12: got %.3f ms, want 4.58", got)
	}
}
