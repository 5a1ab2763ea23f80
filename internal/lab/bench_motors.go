package lab

import (
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/internal/catalog"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// Bits of frames of 8 bytes on a CAN bus from the start of one to where the next may start, nothing stuffed (ISO 11898-1): what is
// stuffed depends on the data and takes up to a fifth more.
const (
	standardFrame = 111
	remoteFrame   = 47
	extendedFrame = 131
)

// behindVESC is what a cycle of a controller behind the first takes on their own CAN bus at 500 kbit/s: a goal and a question, 7
// bytes of data in a frame each, and an answer of 27 bytes in 3 frames of 8 bytes and 1 of 7, with one of 6 that ends it
// (bldc, comm_can_send_buffer).
const behindVESC = (2*(extendedFrame-8) + 3*extendedFrame + (extendedFrame - 8) + (extendedFrame - 16)) * time.Second / 500_000

// vescBound is the time of n controllers on a line: that of its bytes, or of the CAN bus behind it where that is longer, with a
// goal on the line before it has something to do and an answer there behind it. 10 bytes told and 10 asked of the first, 12 and
// 12 of the others; all answer 32, which goes beside the asking of all but one.
func vescBound(baud int) func(n int) time.Duration {
	return func(n int) time.Duration {
		line := servo.WireTime(20+32+(12+32)*(n-1), 10, baud)
		if n == 1 {
			return line
		}
		return max(line, servo.WireTime(12+32, 10, baud)+time.Duration(n-1)*behindVESC)
	}
}

// odriveBytes are those of a cycle of an axis of an ODrive's ASCII protocol, of the goals that the benchmark sets: a goal, a
// question, an answer.
func odriveBytes(n int) int {
	told := len(odrive.AppendSet(nil, 'p', 0, 0, 0, 0)) + len(odrive.AppendSet(nil, 'p', 0, 1/odrive.TicksPerTurn, 0, 0))
	return n * (told/2 + len(odrive.AppendSet(nil, 'f', 0)) + len(odrive.AppendAnswer(nil, []byte("0 0"), true)))
}

// motorLines are the lines of motor controllers.
func motorLines() []benchLine {
	few := []int{1, 2, 4, 6, 12}
	var all []benchLine
	for _, baud := range []int{115_200, 1_000_000} {
		all = append(all, benchLine{kind: "vesc", model: "vesc-6", baud: baud, counts: few, bound: vescBound(baud), first: 1})
	}
	for _, baud := range []int{115_200, 921_600} { // a controller has two axes
		wire := wireBytes{10, odriveBytes, never}
		all = append(all, benchLine{kind: "odrive", model: "odrive-v3", baud: baud, counts: few[:2], bound: wire.at(baud, 0)})
	}
	// A goal, two questions and two answers each.
	perAxis := wireBytes{3*standardFrame + 2*remoteFrame, apiece, never}
	for _, rate := range []int{250_000, 500_000, 1_000_000} {
		l := benchLine{kind: catalog.OdriveCAN, model: "odrive-s1", baud: rate, counts: few, bound: perAxis.at(rate, 0), first: 1}
		l.settings = []servo.Setting{{Register: "watchdog_endpoint", Value: emulator.WatchdogEndpoint}, {Register: "enable_endpoint", Value: emulator.EnableEndpoint}}
		l.counts = slices.DeleteFunc(slices.Clone(few), func(n int) bool { return n == 2 })
		all = append(all, l)
	}
	// A goal and the feedback that answers it.
	perMotor := wireBytes{2 * extendedFrame, apiece, never}
	return append(all, benchLine{kind: catalog.CybergearType, model: "cybergear", baud: 1_000_000, counts: few, bound: perMotor.at(1_000_000, 0), first: 1})
}
