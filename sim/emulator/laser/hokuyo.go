package laser

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Hokuyo is a scanner of SCIP 2.0.
type Hokuyo struct {
	Boot  time.Duration // from power-on to its first word
	Old   bool          // it wakes up in SCIP 1.1
	model lidar.HokuyoModel
	scene Scene
	usual int // baud at power-on; 0 = USB, TCP

	powered    bool
	old        bool // it speaks SCIP 1.1
	ready      time.Duration
	baud, rate int // now, and after what is being said
	line       []byte
	laser      bool
	timing     bool // TM0 was said
	out        []byte
	answer     time.Duration

	stream              string // the command under way, "" = none
	first, last, bundle int
	size, skip, left    int // left: scans to go, -1 = no end
	scan                time.Duration
	ranges              []float64
	values              []int
}

// NewHokuyo returns a scanner of a model, at baud after power-on, 0 on USB and TCP.
func NewHokuyo(m lidar.HokuyoModel, baud int, scene Scene) *Hokuyo {
	return &Hokuyo{Boot: 50 * time.Millisecond, model: m, scene: scene, usual: baud}
}

// Baud is wire.Board's.
func (h *Hokuyo) Baud() int { return h.baud }

// Power is wire.Board's.
func (h *Hokuyo) Power(on bool, now time.Duration) {
	*h = Hokuyo{Boot: h.Boot, Old: h.Old, old: h.Old, model: h.model, scene: h.scene, usual: h.usual, powered: on, ready: now + h.Boot,
		baud: h.usual, rate: h.usual}
}

// Next is wire.Board's.
func (h *Hokuyo) Next() time.Duration {
	next := wire.Never
	if h.powered && len(h.out) > 0 {
		next = h.answer
	}
	if h.powered && h.stream != "" {
		next = min(next, h.scan)
	}
	return next
}

// Transmit is wire.Board's.
func (h *Hokuyo) Transmit(dst []byte, now time.Duration) []byte {
	if len(h.out) > 0 && h.answer <= now {
		dst = append(dst, h.out...)
		h.out = h.out[:0]
		h.scan = max(h.scan, now+h.wire(len(dst)))
		h.baud = h.rate
		return dst
	}
	// The echo of a scan says how many are left.
	echo, left := h.stream, 0
	if h.left > 0 {
		h.left--
		left = h.left
	}
	h.measure()
	echo = fmt.Sprintf("%s%02d", echo[:len(echo)-2], left)
	dst = lidar.AppendSCIPScan(dst, echo, lidar.SCIPData, int(now/time.Millisecond)&0xFFFFFF, h.values, h.size)
	turn := time.Minute / time.Duration(h.model.RPM) * time.Duration(1+h.skip)
	h.scan = now + max(turn, h.wire(len(dst)))
	if h.left == 0 {
		h.stream = ""
	}
	return dst
}

func (h *Hokuyo) wire(n int) time.Duration { return servo.WireTime(n, 10, h.baud) }

// measure fills values; of a cluster the nearest counts.
func (h *Hokuyo) measure() {
	step := 2 * math.Pi / float64(h.model.Turn)
	n := h.last - h.first + 1
	if len(h.ranges) != n {
		h.ranges = make([]float64, n)
	}
	h.scene.Scan(float64(h.first-h.model.Front)*step, step, h.ranges)
	h.values = h.values[:0]
	// Where nothing is each family has its own word.
	void := 1
	if strings.HasPrefix(h.model.Name, "UST") {
		void = 65533
	}
	for i := 0; i < n; i += h.bundle {
		best := -1
		for _, m := range h.ranges[i:min(n, i+h.bundle)] {
			mm := math.Round(m * 1000)
			if mm >= float64(h.model.MinRange) && mm <= float64(h.model.MaxRange) && (best < 0 || int(mm) < best) {
				best = int(mm)
			}
		}
		if best < 0 {
			best = void
		}
		if h.size == 2 {
			best = min(best, 4095)
		}
		h.values = append(h.values, best)
	}
}

// Receive is wire.Board's. Lines end with LF or CR.
func (h *Hokuyo) Receive(p []byte, now time.Duration) {
	if !h.powered || now < h.ready {
		return
	}
	for _, c := range p {
		if c != '\n' && c != '\r' {
			if h.line = append(h.line, c); len(h.line) > 64 {
				h.line = h.line[:0]
			}
			continue
		}
		if len(h.line) > 0 {
			h.execute(string(h.line), now+thinking)
			h.answer = now + thinking
		}
		h.line = h.line[:0]
	}
}

func (h *Hokuyo) execute(line string, at time.Duration) {
	name := line[:min(2, len(line))]
	say := func(status string, lines ...string) { h.out = lidar.AppendSCIP(h.out, line, status, lines...) }
	m := h.model
	switch {
	case h.old && line == lidar.SCIPSwitch:
		h.old = false
		h.out = append(h.out, line+"\n"+lidar.SCIPOldOK+"\n\n"...)
		return
	case h.old:
		h.out = append(h.out, line+"\n"+lidar.SCIPOldUnknown+"\n\n"...)
		return
	}
	if h.timing && name != lidar.SCIPTime {
		say(lidar.SCIPUnknown)
		return
	}
	switch name {
	case lidar.SCIPVersion:
		h.out = lidar.AppendSCIPFields(h.out, line, "VEND:Hokuyo Automatic Co., Ltd.", "PROD:"+m.Name, "FIRM:3.3.00", "PROT:SCIP 2.0", "SERI:H0500001")
	case lidar.SCIPParameters:
		h.out = lidar.AppendSCIPFields(h.out, line, "MODL:"+m.Name, fmt.Sprint("DMIN:", m.MinRange), fmt.Sprint("DMAX:", m.MaxRange),
			fmt.Sprint("ARES:", m.Turn), fmt.Sprint("AMIN:", m.First), fmt.Sprint("AMAX:", m.Last), fmt.Sprint("AFRT:", m.Front), fmt.Sprint("SCAN:", m.RPM))
	case lidar.SCIPInternals:
		h.out = lidar.AppendSCIPFields(h.out, line, "MODL:"+m.Name, "LASR:OFF", "SCSP:Initial", "MESM:IDLE", fmt.Sprint("SBPS:", h.baud), "TIME:000000", "STAT:Sensor works well.")
	case lidar.SCIPLaserOn:
		if h.laser {
			say(lidar.SCIPAlready)
			return
		}
		h.laser = true
		say(lidar.SCIPOK)
	case lidar.SCIPLaserOff, lidar.SCIPReset:
		h.laser, h.stream = false, ""
		say(lidar.SCIPOK)
	case lidar.SCIPRate:
		rate, err := strconv.Atoi(line[2:])
		switch {
		case err != nil || len(line) != 8 || !slices.Contains(lidar.SCIPBauds(), rate):
			say("01")
		case rate == h.baud:
			say(lidar.SCIPSame)
		default:
			h.rate = rate
			say(lidar.SCIPOK)
		}
	case lidar.SCIPTime:
		h.timing = line == "TM0" || h.timing && line != "TM2"
		if line == "TM1" {
			say(lidar.SCIPOK, string(lidar.AppendSCIPValue(nil, int(at/time.Millisecond)&0xFFFFFF, 4)))
			return
		}
		say(lidar.SCIPOK)
	case lidar.SCIPOnce, lidar.SCIPOnceShort, lidar.SCIPStream, lidar.SCIPStreamTwo:
		h.start(line, at)
	default:
		say(lidar.SCIPUnknown)
	}
}

// start begins what a measuring command says.
func (h *Hokuyo) start(line string, at time.Duration) {
	stream := line[0] == 'M'
	digits, want := []byte(line[2:]), 10
	if stream {
		want = 13
	}
	if len(digits) != want || len(bytes.Trim(digits, "0123456789")) > 0 {
		h.out = lidar.AppendSCIP(h.out, line, "0D")
		return
	}
	number := func(i, n int) int { v, _ := strconv.Atoi(string(digits[i : i+n])); return v }
	first, last := number(0, 4), number(4, 4)
	if first < h.model.First || last > h.model.Last || first > last {
		h.out = lidar.AppendSCIP(h.out, line, "05")
		return
	}
	h.first, h.last, h.bundle, h.size = first, last, max(1, number(8, 2)), 3
	if line[1] == 'S' {
		h.size = 2
	}
	if !stream {
		if !h.laser {
			h.out = lidar.AppendSCIP(h.out, line, "10")
			return
		}
		h.measure()
		h.out = lidar.AppendSCIPScan(h.out, line, lidar.SCIPOK, int(at/time.Millisecond)&0xFFFFFF, h.values, h.size)
		return
	}
	// The laser goes on by itself.
	h.laser, h.stream, h.skip, h.left, h.scan = true, line, number(10, 1), number(11, 2), at
	if h.left == 0 {
		h.left = -1
	}
	h.out = lidar.AppendSCIP(h.out, line, lidar.SCIPOK)
}
