package laser

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/sim/emulator/uart"
)

// RPLidar is an A1 (motor on DTR) or an A2 (motor by PWM).
type RPLidar struct {
	Boot  time.Duration // from power-on to its first word
	Sick  bool          // its health is an error
	drive lidar.RPLidarDrive
	baud  int
	scene Scene

	powered bool
	ready   time.Duration
	in, out []byte
	answer  time.Duration
	dtr     bool // up: an A1 stands
	pwm     int
	mode    byte // 0 = idle, else the type of what it streams
	next    time.Duration
	angle   float64 // of the next sample, turns to the right
	first   bool    // of the scan
	sees    [1]float64
}

// How fast it is: samples a second of either scan, as many as 115200 baud carry, and turns.
const (
	rpStandard = 2000
	rpExpress  = 4000
	rpTurns    = 7.0
	// rpBatch is how many nodes leave at a time.
	rpBatch = 16
)

// NewRPLidar returns a scanner whose motor is driven in a way, at baud: 115200 or, of an A3, 256000.
func NewRPLidar(drive lidar.RPLidarDrive, baud int, scene Scene) *RPLidar {
	return &RPLidar{Boot: 50 * time.Millisecond, drive: drive, baud: baud, scene: scene, dtr: true}
}

// Baud is uart.Board's.
func (r *RPLidar) Baud() int { return r.baud }

// DTR is the state of the adapter's line.
func (r *RPLidar) DTR(on bool, _ time.Duration) { r.dtr = on }

// Spins tells whether the motor turns.
func (r *RPLidar) Spins() bool {
	return r.powered && (r.drive == lidar.RPLidarFree || r.drive == lidar.RPLidarDTR && !r.dtr || r.drive == lidar.RPLidarPWM && r.pwm > 0)
}

// Power is uart.Board's.
func (r *RPLidar) Power(on bool, now time.Duration) {
	*r = RPLidar{Boot: r.Boot, Sick: r.Sick, drive: r.drive, baud: r.baud, scene: r.scene, dtr: r.dtr, powered: on, ready: now + r.Boot}
	r.out, r.answer = append(r.out, "RP LIDAR System.\r\nFirmware Ver 1.29\r\n"...), r.ready
}

// Next is uart.Board's.
func (r *RPLidar) Next() time.Duration {
	next := uart.Never
	if r.powered && len(r.out) > 0 {
		next = r.answer
	}
	if r.powered && r.mode != 0 {
		next = min(next, r.next)
	}
	return next
}

// Transmit is uart.Board's.
func (r *RPLidar) Transmit(dst []byte, now time.Duration) []byte {
	if len(r.out) > 0 && r.answer <= now {
		dst = append(dst, r.out...)
		r.out = r.out[:0]
		r.next = max(r.next, now)
		return dst
	}
	count, rate := rpBatch, rpStandard
	if r.mode == 0x82 {
		count, rate = 32, rpExpress
	}
	r.next = now + time.Duration(count)*time.Second/time.Duration(rate)
	if !r.Spins() {
		return dst
	}
	step := rpTurns / float64(rate)
	if r.mode == 0x82 {
		return r.capsule(dst, step)
	}
	for range count {
		mm := r.sample(r.angle)
		n := lidar.RPNode{Angle: uint16(int(r.angle*360*64)) % (360 << 6), Range: uint16(min(65535, mm*4)), Quality: 47, Start: r.first}
		if mm == 0 {
			n.Quality = 0
		}
		dst = n.Append(dst)
		r.first = false
		if r.angle += step; r.angle >= 1 {
			r.angle--
			r.first = true
		}
	}
	return dst
}

func (r *RPLidar) capsule(dst []byte, step float64) []byte {
	c := lidar.RPCapsule{Start: uint16(int(r.angle*360*64)) % (360 << 6), First: r.first}
	r.first = false
	for i := range c.Ranges {
		c.Ranges[i] = uint16(min(1<<14-1, r.sample(r.angle+float64(i)*step)))
	}
	if r.angle += float64(len(c.Ranges)) * step; r.angle >= 1 {
		r.angle--
	}
	return c.Append(dst)
}

// sample is what it sees at turns to the right, mm; 0 = nothing, or nothing within 12 m.
func (r *RPLidar) sample(turns float64) int {
	r.scene.Scan(-2*math.Pi*turns, 1, r.sees[:])
	if m := r.sees[0]; m >= 0.15 && m <= 12 {
		return int(math.Round(m * 1000))
	}
	return 0
}

// Receive is uart.Board's.
func (r *RPLidar) Receive(p []byte, now time.Duration) {
	if !r.powered || now < r.ready {
		return
	}
	for r.in = append(r.in, p...); len(r.in) > 0; {
		c, payload, n := lidar.DecodeRPLidar(r.in)
		if n == 0 && len(r.in) < 64 {
			return
		}
		payload = append([]byte(nil), payload...) // it lies where the rest moves to, or is reset
		r.in = r.in[:copy(r.in, r.in[max(n, 1):])]
		if n > 0 {
			r.obey(c, payload, now+thinking)
		}
	}
}

func (r *RPLidar) obey(c lidar.RPLidarCommand, payload []byte, at time.Duration) {
	say := func(kind byte, data ...byte) {
		r.out = append(lidar.AppendRPDescriptor(r.out, len(data), false, kind), data...)
		r.answer = at
	}
	switch c {
	case lidar.RPLidarStop:
		r.mode = 0
	case lidar.RPLidarReset:
		r.Power(true, at)
	case lidar.RPLidarInfo:
		say(0x04, append([]byte{0x18, 29, 1, 7}, "HALYARD-EMULATOR"...)...)
	case lidar.RPLidarHealth:
		health := [3]byte{}
		if r.Sick {
			health = [3]byte{2, 1, 0x80}
		}
		say(0x06, health[:]...)
	case lidar.RPLidarRate:
		var rate [4]byte
		binary.LittleEndian.PutUint16(rate[:], 1e6/rpStandard)
		binary.LittleEndian.PutUint16(rate[2:], 1e6/rpExpress)
		say(0x15, rate[:]...)
	case lidar.RPLidarBoard:
		say(0xFF, byte(r.drive&1), 0, 0, 0)
	case lidar.RPLidarMotor:
		if len(payload) == 2 && r.drive == lidar.RPLidarPWM {
			r.pwm = int(binary.LittleEndian.Uint16(payload))
		}
	case lidar.RPLidarConf:
		r.conf(payload, say)
	case lidar.RPLidarScan, lidar.RPLidarForceScan:
		r.stream(0x81, 5, at)
	case lidar.RPLidarExpress:
		if len(payload) == 5 {
			r.stream(0x82, 84, at)
		}
	}
}

// stream begins a scan.
func (r *RPLidar) stream(kind byte, length int, at time.Duration) {
	r.out = lidar.AppendRPDescriptor(r.out, length, true, kind)
	r.answer, r.mode, r.next, r.first = at, kind, at, true
}

// conf answers what its modes are: 0 is the standard scan, 1 the express one.
func (r *RPLidar) conf(p []byte, say func(byte, ...byte)) {
	if len(p) < 4 {
		return
	}
	mode := 0
	if len(p) >= 6 {
		mode = int(p[4])
	}
	var value []byte
	switch p[0] {
	case 0x70: // how many modes
		value = []byte{2, 0}
	case 0x71: // µs a sample, 1/256
		value = binary.LittleEndian.AppendUint32(nil, uint32([2]int{1e6 / rpStandard, 1e6 / rpExpress}[mode&1])<<8)
	case 0x74: // greatest distance, m, 1/256
		value = binary.LittleEndian.AppendUint32(nil, 12<<8)
	case 0x75: // type of its answer
		value = []byte{[2]byte{0x81, 0x82}[mode&1]}
	case 0x7C: // the usual mode
		value = []byte{1, 0}
	case 0x7F: // its name
		value = append([]byte([2]string{"Standard", "Express"}[mode&1]), 0)
	default:
		return
	}
	say(0x20, append(p[:4:4], value...)...)
}
