package laser

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
	"github.com/halyard-robotics/halyard/servo"
)

// Hokuyo is a scanner of SCIP 2.0.
type Hokuyo struct {
	Boot  time.Duration // from power-on to its first word
	Old   bool          // it starts in SCIP 1.1
	model lidar.HokuyoModel
	scene Scene
	usual int // baud at power-on; 0 = USB, TCP

	replies
	old        bool // it uses SCIP 1.1
	baud, rate int  // now, and after the present output
	line       []byte
	laser      bool
	timing     bool // in the state of TM0

	stream  *scanOrder    // active; nil = none
	scan    time.Duration // when its next scan leaves
	lit     time.Duration // since when the laser is on
	handed  time.Duration // when the last scan that was asked for ended
	slower  int           // by how many hundredths its motor turns slower than it might
	sharper bool          // HS
	ranges  []float64
	values  []int
}

// NewHokuyo returns a scanner of a model, at baud after power-on, 0 on USB and TCP.
func NewHokuyo(m lidar.HokuyoModel, baud int, scene Scene) *Hokuyo {
	return &Hokuyo{Boot: 50 * time.Millisecond, model: m, scene: scene, usual: baud}
}

func (h *Hokuyo) Baud() int { return h.baud }

func (h *Hokuyo) Power(on bool, now time.Duration) {
	*h = Hokuyo{Boot: h.Boot, Old: h.Old, old: h.Old, model: h.model, scene: h.scene, usual: h.usual,
		replies: replies{powered: on, ready: now + h.Boot},
		baud:    h.usual, rate: h.usual}
}

func (h *Hokuyo) Next() time.Duration { return h.next(h.stream != nil, h.scan) }

func (h *Hokuyo) Transmit(dst []byte, now time.Duration) []byte {
	dst, replied := h.take(dst, now)
	if replied {
		h.scan = max(h.scan, now+h.wire(len(dst)))
		h.baud = h.rate
		return dst
	}
	return h.nextScan(dst, now)
}

func (h *Hokuyo) wire(n int) time.Duration { return servo.WireTime(n, 10, h.baud) }

// Receive is wire.Board's. Lines end with LF or CR.
func (h *Hokuyo) Receive(p []byte, now time.Duration) {
	if !h.listens(now) {
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
			h.answer = now + thinking
			h.execute(string(h.line), now+thinking)
		}
		h.line = h.line[:0]
	}
}

func (h *Hokuyo) execute(line string, at time.Duration) {
	// The user's string behind a semicolon is returned with the command.
	command, tail, _ := strings.Cut(line, ";")
	name := command[:min(2, len(command))]
	m, status := h.model, lidarwire.SCIPOK
	switch {
	case h.old:
		old := lidarwire.SCIPOldUnknown
		if line == lidarwire.SCIPSwitch {
			h.old, old = false, lidarwire.SCIPOldOK
		}
		h.out = append(h.out, line+"\n"+old+"\n\n"...)
		return
	case h.timing && name != lidarwire.SCIPTime:
		name = "" // unknown now
	}
	switch name {
	case lidarwire.SCIPVersion:
		h.out = lidarwire.AppendSCIPFields(h.out, line, "VEND:Hokuyo Automatic Co., Ltd.", "PROD:"+m.Name,
			"FIRM:3.3.00", "PROT:SCIP 2.0", "SERI:H0500001")
		return
	case lidarwire.SCIPParameters:
		h.out = lidarwire.AppendSCIPFields(h.out, line, "MODL:"+m.Name, fmt.Sprint("DMIN:", m.MinRange),
			fmt.Sprint("DMAX:", m.MaxRange), fmt.Sprint("ARES:", m.Turn), fmt.Sprint("AMIN:", m.First),
			fmt.Sprint("AMAX:", m.Last), fmt.Sprint("AFRT:", m.Front), fmt.Sprint("SCAN:", m.RPM))
		return
	case lidarwire.SCIPInternals:
		h.out = lidarwire.AppendSCIPFields(h.out, line, "MODL:"+m.Name,
			"LASR:"+map[bool]string{true: "ON", false: "OFF"}[h.laser], "SCSP:Initial", "MESM:IDLE",
			fmt.Sprint("SBPS:", h.baud), "TIME:000000", "STAT:Sensor works well.")
		return
	case lidarwire.SCIPLaserOn:
		if h.laser {
			status = lidarwire.SCIPAlready
		}
		h.light(at)
	case lidarwire.SCIPLaserOff, lidarwire.SCIPReset:
		h.laser, h.stream = false, nil
		if name == lidarwire.SCIPReset {
			h.slower, h.sharper = 0, false
		}
	case lidarwire.SCIPRate:
		rate, err := strconv.Atoi(command[2:])
		switch {
		case err != nil || len(command) != 8 || !slices.Contains(lidar.SCIPBauds(), rate):
			status = "01"
		case h.usual == 0: // USB and TCP have no rate: accepted without effect
		case rate == h.baud:
			status = lidarwire.SCIPSame
		default:
			h.rate = rate
		}
	case lidarwire.SCIPTime:
		h.timing = line == "TM0" || h.timing && line != "TM2"
		if line == "TM1" {
			h.out = lidarwire.AppendSCIP(h.out, line, status,
				string(lidarwire.AppendSCIPValue(nil, int(at/time.Millisecond)&0xFFFFFF, 4)))
			return
		}
	case "CR":
		status = h.speed(command[2:])
	case "HS":
		switch on := command == "HS1"; {
		case command != "HS0" && !on:
			status = "01"
		case on == h.sharper:
			status = lidarwire.SCIPAlready
		default:
			h.sharper = on
		}
	case "GE", "ME", "HD", "ND":
		if strings.HasPrefix(m.Name, "URG") || strings.HasPrefix(m.Name, "UBG") {
			status = lidarwire.SCIPUnknown
			break
		}
		fallthrough
	case lidarwire.SCIPOnce, lidarwire.SCIPOnceShort, lidarwire.SCIPStream, lidarwire.SCIPStreamTwo:
		var o scanOrder
		switch o, status = h.order(command); {
		case len(tail) > 16:
			status = "0G"
		case status != lidarwire.SCIPOK:
		case !o.stream:
			h.once(line, o, at)
			return
		default:
			// The laser is switched on by this command, and a scan is complete after one turn.
			if len(line) > len(command) {
				o.tail = ";" + tail
			}
			h.light(at)
			h.stream, h.scan = &o, at
		}
	default:
		status = lidarwire.SCIPUnknown
	}
	h.out = lidarwire.AppendSCIP(h.out, line, status)
}

// light switches the laser on.
func (h *Hokuyo) light(at time.Duration) {
	if !h.laser {
		h.laser, h.lit, h.handed = true, at, at
	}
}

// speed executes CR and returns the status: 00 is as fast as it can, 01 to 10 so many hundredths slower, 99 as at
// power-on.
func (h *Hokuyo) speed(text string) (status string) {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil || len(text) != 2:
		return "01"
	case n < 0 || n > 10 && n != 99:
		return "02"
	case n%99 == h.slower:
		return lidarwire.SCIPSame
	}
	h.slower = n % 99
	return lidarwire.SCIPOK
}
