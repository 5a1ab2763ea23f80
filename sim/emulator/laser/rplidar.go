package laser

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/internal/emulator/version"
	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
)

// RPLidar is an A1 (motor on DTR) or an A2 (motor by PWM).
type RPLidar struct {
	Boot time.Duration // from power-on to its first word
	Sick bool          // its health is an error
	RPLidarVersion
	drive lidar.RPLidarDrive
	baud  int
	scene Scene

	replies
	in    []byte
	dtr   bool // up: the motor of an A1 is stopped
	pwm   int
	mode  *rpMode       // active stream; nil = idle
	scan  time.Duration // when its next packet leaves
	angle float64       // of the next sample, turns to the right
	first bool          // of the scan
	sees  [1]float64
}

// RPLidarVersion is one of the models and firmwares that are sold; the zero one is an A1 of firmware 1.29.
type RPLidarVersion struct {
	Model, Major, Minor byte
	// Express is what EXPRESS_SCAN of mode 0 is answered with; 0 = express capsules. S1, S2 and C1 send dense ones.
	Express   lidar.RPLidarEncoding
	NoExpress bool          // firmware before 1.17 does not answer EXPRESS_SCAN
	SpinUp    time.Duration // from the first scan to its first sample
	noModes   bool          // firmware before 1.24 does not answer questions about its modes
}

// rpMode is one of its scan modes.
type rpMode struct {
	name     string
	encoding lidar.RPLidarEncoding
	sample   time.Duration // from one sample to the next
	reach    int           // m
	count    int           // samples per packet
	length   int           // bytes of a packet
}

// rpModeCount is how many modes there are.
const rpModeCount = 7

// rpModes are its modes by their numbers, as an A1 of firmware 1.29 answers; the last two are those of S models. Each
// fills 115200 Bd.
func rpModes() [rpModeCount]rpMode {
	us := time.Microsecond
	return [rpModeCount]rpMode{
		{"Standard", lidar.RPLidarNodes, 500 * us, 12, 16, 5},
		{"Express", lidar.RPLidarExpressed, 250 * us, 12, 32, 84},
		{"Boost", lidar.RPLidarUltra, 127 * us, 12, 96, 132},
		{"Sensitivity", lidar.RPLidarUltra, 127 * us, 12, 96, 132},
		{"Stability", lidar.RPLidarUltra, 201 * us, 12, 96, 132},
		{"DenseBoost", lidar.RPLidarDense, 200 * us, 40, 40, 84},
		{"UltraDense", lidar.RPLidarUltraDense, 235 * us, 40, 64, 170},
	}
}

const (
	rpTurns   = 7.0 // a second
	rpTypical = 3   // the mode that it advises
)

// NewRPLidar returns a scanner with the given motor drive, at baud: 115200 or, for an A3, 256000.
func NewRPLidar(drive lidar.RPLidarDrive, baud int, scene Scene) *RPLidar {
	return &RPLidar{Boot: 50 * time.Millisecond, drive: drive, baud: baud, scene: scene, dtr: true}
}

// Take gives the scanner the firmware and the quirks that a config names; "" and none are the usual ones.
func (r *RPLidar) Take(firmware string, quirks []string) {
	if n, ok := version.Numbers(firmware); ok {
		r.Major, r.Minor = byte(n[0]), byte(n[1])
		r.NoExpress, r.noModes = slices.Compare(n[:2], []int{1, 17}) < 0, slices.Compare(n[:2], []int{1, 24}) < 0
	}
	for _, q := range quirks {
		switch q {
		case version.Dense:
			r.Express = lidar.RPLidarDense
		case version.HQ:
			r.Express = lidarwire.RpTypeHQ
		case version.SpinsUp:
			r.SpinUp = 2500 * time.Millisecond
		}
	}
}

func (r *RPLidar) Baud() int { return r.baud }

// DTR is the state of the adapter's line.
func (r *RPLidar) DTR(on bool, _ time.Duration) { r.dtr = on }

// Spins reports whether the motor turns.
func (r *RPLidar) Spins() bool {
	return r.powered && (r.drive == lidar.RPLidarFree || r.drive == lidar.RPLidarDTR && !r.dtr ||
		r.drive == lidar.RPLidarPWM && r.pwm > 0)
}

func (r *RPLidar) Power(on bool, now time.Duration) {
	*r = RPLidar{Boot: r.Boot, Sick: r.Sick, RPLidarVersion: r.RPLidarVersion, drive: r.drive, baud: r.baud,
		scene: r.scene, dtr: r.dtr, replies: replies{powered: on, ready: now + r.Boot}}
	r.out, r.answer = append(r.out, "RP LIDAR System.\r\nFirmware Ver 1.29\r\n"...), r.ready
}

func (r *RPLidar) Next() time.Duration { return r.next(r.mode != nil, r.scan) }

func (r *RPLidar) Transmit(dst []byte, now time.Duration) []byte {
	dst, replied := r.take(dst, now)
	if replied {
		r.scan = max(r.scan, now)
		return dst
	}
	m := r.mode
	r.scan = now + time.Duration(m.count)*m.sample
	if !r.Spins() {
		return dst
	}
	step := rpTurns * m.sample.Seconds()
	switch m.encoding {
	case lidar.RPLidarNodes:
	case lidarwire.RpTypeHQ:
		return r.precise(dst, step)
	default:
		return r.capsule(dst, step)
	}
	for range m.count {
		dst = r.node(dst)
		if r.angle += step; r.angle >= 1 {
			r.angle--
			r.first = true
		}
	}
	return dst
}

// node is one sample of the standard scan. With a range its angle is compensated for the optics, without one it is the
// motor's.
func (r *RPLidar) node(dst []byte) []byte {
	mm, shift := r.sample(r.angle)
	n := lidarwire.RPNode{Range: uint16(min(65535, mm*4)), Quality: 15, Start: r.first}
	if mm == 0 {
		n.Quality, shift = 0, 0
	}
	n.Angle = uint16((int(r.angle*360*64) + 360<<6 - shift>>10) % (360 << 6))
	r.first = false
	return n.Append(dst)
}

func (r *RPLidar) capsule(dst []byte, step float64) []byte {
	c := lidar.RPCapsule{Encoding: r.mode.encoding, Start: uint16(int(r.angle*360*64)) % (360 << 6), First: r.first}
	r.first = false
	n := c.Samples()
	for i := range n {
		c.Ranges[i], c.Shifts[i] = r.packed(r.angle + float64(i)*step)
	}
	if r.angle += float64(n) * step; r.angle >= 1 {
		r.angle--
	}
	if c.Encoding == lidar.RPLidarUltra {
		c.Next, _ = r.packed(r.angle)
	}
	return c.Append(dst)
}

// packed is a sample of a capsule: mm, and the shift that an express one carries, 1/8 °.
func (r *RPLidar) packed(turns float64) (uint16, uint8) {
	switch r.mode.encoding {
	case lidar.RPLidarDense, lidar.RPLidarUltraDense: // time of flight, without an angle offset of the lens
		return uint16(r.see(turns)), 0
	case lidar.RPLidarUltra:
		mm, _ := r.sample(turns)
		return uint16(mm), 0
	}
	_, shift := r.sample(turns)
	eighths := (shift + 1<<12) >> 13
	return uint16(min(1<<14-1, r.see(turns-float64(eighths)/8/360))), uint8(eighths)
}

// sample is the range with the motor at turns to the right, mm, and the offset of its angle, 1/65536 °. The optics
// measure a near object at a smaller angle than a far one.
func (r *RPLidar) sample(turns float64) (mm, shift int) {
	const far = 10_000
	for mm = far; ; {
		shift = lidar.RPLidarShift(mm)
		seen := r.see(turns - float64(shift)/65536/360)
		if seen == 0 || seen == mm || mm != far {
			return seen, shift
		}
		mm = seen
	}
}

// see is the distance of an object at turns to the right, mm; 0 = none within range.
func (r *RPLidar) see(turns float64) int {
	r.scene.Scan(-2*math.Pi*turns, 1, r.sees[:])
	if m := r.sees[0]; m >= 0.15 && m <= float64(r.mode.reach) {
		return int(math.Round(m * 1000))
	}
	return 0
}

func (r *RPLidar) Receive(p []byte, now time.Duration) {
	if !r.listens(now) {
		return
	}
	for r.in = append(r.in, p...); len(r.in) > 0; {
		c, payload, n := lidarwire.DecodeRPLidar(r.in)
		if n == 0 && len(r.in) < 64 {
			return
		}
		payload = append([]byte(nil), payload...) // it lies where the rest moves to, or is reset
		r.in = r.in[:copy(r.in, r.in[max(n, 1):])]
		if n > 0 {
			r.execute(c, payload, now+thinking)
		}
	}
}

func (r *RPLidar) execute(c lidarwire.RPLidarCommand, payload []byte, at time.Duration) {
	reply := func(kind byte, data ...byte) {
		r.out = append(lidarwire.AppendRPDescriptor(r.out, len(data), false, kind), data...)
		r.answer = at
	}
	switch c {
	case lidarwire.RPLidarStop:
		r.mode = nil
	case lidarwire.RPLidarReset:
		r.Power(true, at)
	case lidarwire.RPLidarInfo:
		reply(0x04, append([]byte{cmp.Or(r.Model, 0x18), cmp.Or(r.Minor, 29), cmp.Or(r.Major, 1), 7},
			"HALYARD-EMULATOR"...)...)
	case lidarwire.RPLidarHealth:
		health := [3]byte{}
		if r.Sick {
			health = [3]byte{2, 1, 0x80}
		}
		reply(0x06, health[:]...)
	case lidarwire.RPLidarRate:
		var rate [4]byte
		modes := rpModes()
		binary.LittleEndian.PutUint16(rate[:], uint16(modes[0].sample/time.Microsecond))
		binary.LittleEndian.PutUint16(rate[2:], uint16(modes[1].sample/time.Microsecond))
		reply(0x15, rate[:]...)
	case lidarwire.RPLidarBoard:
		reply(0xFF, byte(r.drive&1), 0, 0, 0)
	case lidarwire.RPLidarMotor:
		if len(payload) == 2 && r.drive == lidar.RPLidarPWM {
			r.pwm = int(binary.LittleEndian.Uint16(payload))
		}
	case lidarwire.RPLidarConf:
		if !r.noModes {
			r.conf(payload, reply)
		}
	case lidarwire.RPLidarUnlisted:
		reply(0x14, 0, 0, 0x61, 0, 0, 0, 0xA0, 0, 0, 0x0C, 0, 0x04, 0, 0x28, 0x1D)
	case lidarwire.RPLidarScan, lidarwire.RPLidarForceScan:
		r.stream(0, at)
	case lidarwire.RPLidarExpress:
		// Mode 0 is that of firmware before modes: the express one.
		if len(payload) != 5 || int(payload[0]) >= rpModeCount || r.NoExpress {
			return
		}
		mode := max(1, int(payload[0]))
		for i, m := range rpModes() {
			if payload[0] == 0 && m.encoding == r.Express {
				mode = i
			}
		}
		r.stream(mode, at)
	}
}

// precise is an HQ packet.
func (r *RPLidar) precise(dst []byte, step float64) []byte {
	var nodes [lidarwire.RpHQSamples]lidarwire.RPHQNode
	for k := range nodes {
		mm := r.see(r.angle)
		nodes[k] = lidarwire.RPHQNode{Angle: uint16(r.angle * 4 * (1 << 14)), Range: uint32(4 * mm), Quality: 47,
			Start: r.first}
		if r.first = false; mm == 0 {
			nodes[k].Quality = 0
		}
		if r.angle += step; r.angle >= 1 {
			r.angle--
			r.first = true
		}
	}
	return lidarwire.AppendRPHQ(dst, &nodes)
}

// stream begins a scan of a mode.
func (r *RPLidar) stream(mode int, at time.Duration) {
	m := rpModes()[mode]
	if mode > 0 && r.Express == lidarwire.RpTypeHQ {
		packet := time.Duration(lidarwire.RpHQ*10) * time.Second / time.Duration(r.baud) // and a twentieth of a gap
		m = rpMode{"HQ", lidarwire.RpTypeHQ, packet * 21 / 20 / lidarwire.RpHQSamples, 12, lidarwire.RpHQSamples,
			lidarwire.RpHQ}
	}
	r.out = lidarwire.AppendRPDescriptor(r.out, m.length, true, byte(m.encoding))
	r.answer, r.mode, r.scan, r.first = at, &m, at+r.SpinUp, true
}

// conf answers a request about its modes: the key of the request, and the value.
func (r *RPLidar) conf(p []byte, reply func(byte, ...byte)) {
	if len(p) < 4 {
		return
	}
	modes, mode := rpModes(), 0
	if len(p) >= 6 {
		mode = int(binary.LittleEndian.Uint16(p[4:]))
	}
	if mode >= len(modes) {
		return
	}
	m, value := &modes[mode], []byte(nil)
	switch binary.LittleEndian.Uint32(p) {
	case lidarwire.RPConfModes:
		value = []byte{byte(len(modes)), 0}
	case lidarwire.RPConfSample:
		value = binary.LittleEndian.AppendUint32(nil, uint32(m.sample/time.Microsecond)<<8)
	case lidarwire.RPConfDistance:
		value = binary.LittleEndian.AppendUint32(nil, uint32(m.reach)<<8)
	case lidarwire.RPConfEncoding:
		value = []byte{byte(m.encoding)}
	case lidarwire.RPConfTypicalMode:
		value = []byte{rpTypical, 0}
	case lidarwire.RPConfName:
		value = append([]byte(m.name), 0)
	default:
		return
	}
	reply(0x20, append(p[:4:4], value...)...)
}
