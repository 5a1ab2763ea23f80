package assembly

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/cybergear"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/servo/vesc"
)

// What the program behind a pseudo terminal may need until the system lets it run, and what it gets where 254 ids are
// asked and each silent one costs it.
const (
	TerminalPatience = 50 * time.Millisecond
	TerminalHurry    = 4 * time.Millisecond
)

// IsTerminal tells whether port is a pseudo terminal, behind which is a program and no adapter.
func IsTerminal(port string) bool {
	device, err := filepath.EvalSymlinks(port)
	return err == nil && strings.HasPrefix(device, "/dev/pts/")
}

// Timed is a line whose adapter may have a latency timer (serial.Line).
type Timed interface {
	LatencyTimer() (d time.Duration, note string)
}

// LatencyOf is how long what is behind an open port may hold an answer back.
func LatencyOf(port string, line servo.Line) time.Duration {
	if IsTerminal(port) {
		return TerminalPatience
	}
	if l, ok := line.(Timed); ok {
		d, _ := l.LatencyTimer()
		return d
	}
	return 0
}

// LastID is the greatest id of each protocol, those of other brands included.
var LastID = [...]int{1: 253, 2: 252, AsFeetech: feetech.LastID, AsHiwonder: hiwonder.LastID, AsKondo: kondo.LastID,
	AsVESC: vesc.LastID, AsODrive: odrive.LastNode, AsODriveCAN: odrive.LastNode, AsCyberGear: cybergear.LastID}
