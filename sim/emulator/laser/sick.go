package laser

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
	"github.com/halyard-robotics/halyard/servo"
)

// SICK is an LMS200 or LMS291.
type SICK struct {
	Boot     time.Duration // from power-on to its first word; a real one takes up to a minute
	Refuses  bool          // the password is another
	scene    Scene
	kind     string
	settings [lidarwire.SICKSettingsLen]byte // kept without power
	parser   *lidarwire.SICKParser

	replies
	received          time.Duration
	baud, rate        int        // now, and after the present output
	stream            *sickOrder // nil: scans are sent on request
	install           bool
	angle, resolution int
	scan              time.Duration // time of the next one
	ranges            []float64
	values            []uint16
	body              []byte // of the newest scan
	scans, telegrams  uint8  // counted since power-on
}

const (
	mirror = 13333 * time.Microsecond // a turn
	maxGap = 6 * time.Millisecond     // within a telegram of the host
)

// NewSICK returns a scanner called kind, "LMS200;30106;V02.30", as it leaves the factory: 8 m, centimetres.
func NewSICK(kind string, scene Scene) *SICK {
	return &SICK{Boot: 50 * time.Millisecond, kind: kind, scene: scene, parser: lidarwire.NewSICKParser(0)}
}

func (s *SICK) Baud() int { return s.baud }

func (s *SICK) Power(on bool, now time.Duration) {
	*s = SICK{Boot: s.Boot, Refuses: s.Refuses, scene: s.scene, kind: s.kind, settings: s.settings,
		parser: lidarwire.NewSICKParser(0), replies: replies{powered: on, ready: now + s.Boot}, baud: 9600, rate: 9600,
		angle: 180, resolution: 100}
	s.queue(append([]byte{lidarwire.SICKStarted}, s.kind+" "...), s.ready)
}

func (s *SICK) Next() time.Duration { return s.next(s.stream != nil, s.scan) }

// Transmit is wire.Board's: answers first, scans between them.
func (s *SICK) Transmit(dst []byte, now time.Duration) []byte {
	dst, replied := s.take(dst, now)
	if replied {
		s.scan = max(s.scan, now+s.wire(len(dst)))
		// A new rate applies after the reply, which has the old one.
		s.baud = s.rate
		return dst
	}
	if body := s.stream.next(s); body != nil {
		dst = lidarwire.AppendSICK(dst, lidarwire.SICKReplyBit, body)
	}
	s.scan = now + max(s.stream.period(s.resolution), s.wire(len(dst)))
	return dst
}

func (s *SICK) wire(n int) time.Duration { return servo.WireTime(n, 10, s.baud) }

// measure is the body of a scan of now.
func (s *SICK) measure() []byte {
	n := s.count()
	if len(s.ranges) != n {
		s.ranges, s.values = make([]float64, n), make([]uint16, n)
	}
	step := float64(s.resolution) / 100 * math.Pi / 180
	s.scene.Scan(-float64(s.angle)/2*math.Pi/180, step, s.ranges)
	unit, scale := s.settings[lidarwire.SICKUnitByte], 100.0
	if unit == 1 {
		scale = 1000
	}
	mask := s.mask()
	for i, m := range s.ranges {
		v := math.Round(m * scale)
		switch {
		case math.IsNaN(v):
			s.values[i] = mask - lidarwire.SICKInvalid
		case v >= float64(mask-lidarwire.SICKTooFar):
			s.values[i] = mask - lidarwire.SICKTooFar
		default:
			s.values[i] = uint16(max(0, v))
		}
	}
	s.scans++
	s.body = lidarwire.AppendSICKScan(s.body[:0], s.values, unit, 0x10)
	return s.body
}

// indexed puts the numbers of the scan and of the telegram before the status of a telegram of values, where they are
// set: in the order in which SICK's own toolbox reads them.
func (s *SICK) indexed(body []byte) []byte {
	if s.settings[lidarwire.SICKAvailByte]&lidarwire.SICKIndices == 0 {
		return body
	}
	s.telegrams++
	end := len(body) - 1
	return append(body[:end], s.scans, s.telegrams, body[end])
}

// mask is the greatest value of the mode that measures.
func (s *SICK) mask() uint16 {
	for _, r := range lidarwire.SICKReaches() {
		if r.Mode == s.settings[lidarwire.SICKModeByte] {
			return 1<<r.Bits - 1
		}
	}
	return 0x1FFF
}

// queue queues a telegram.
func (s *SICK) queue(body []byte, at time.Duration) {
	s.out = lidarwire.AppendSICK(s.out, lidarwire.SICKReplyBit, body)
	s.answer = at
}

func (s *SICK) Receive(p []byte, now time.Duration) {
	if !s.listens(now) {
		return
	}
	// A gap ends a telegram that was never whole.
	if now-s.wire(len(p))-s.received > maxGap {
		s.parser.Reset()
	}
	s.received = now
	for len(p) > 0 {
		p = p[s.parser.Feed(p):]
		for body := s.parser.Body(); body != nil; body = s.parser.Body() {
			s.execute(body, now+thinking)
		}
	}
}

func (s *SICK) execute(body []byte, at time.Duration) {
	const status = 0x10
	s.out = append(s.out, lidarwire.SICKAck)
	reply := []byte{body[0] | lidarwire.SICKReplyBit}
	switch lidarwire.SICKCommand(body[0]) {
	case lidarwire.SICKReset:
		s.Power(true, at)
		return
	case lidarwire.SICKMode:
		was := s.stream
		if reply = []byte{lidarwire.SICKModeReply, s.mode(body[1:])}; s.stream != nil && was == nil {
			s.scan = at
		}
	case lidarwire.SICKScan:
		s.queue(s.indexed(s.measure()), at)
		return
	case lidarwire.SICKType:
		reply = append(reply, s.kind+" "...)
	case lidarwire.SICKVariant:
		if len(body) != 5 {
			return
		}
		angle, resolution := int(binary.LittleEndian.Uint16(body[1:])), int(binary.LittleEndian.Uint16(body[3:]))
		ok := byte(0)
		if (angle == 100 || angle == 180) && (resolution == 100 || resolution == 50 || resolution == 25 &&
			angle == 100) {
			s.angle, s.resolution, ok = angle, resolution, 1
			if s.stream != nil && s.stream.last > s.count() {
				s.stream = nil
			}
		}
		reply = append(append(reply, ok), byte(s.angle), byte(s.angle>>8), byte(s.resolution), byte(s.resolution>>8))
	case lidarwire.SICKConfig:
		reply = append(reply, s.settings[:]...)
	case lidarwire.SICKConfigure:
		ok := byte(0)
		if s.install && len(body) == 1+lidarwire.SICKSettingsLen {
			copy(s.settings[:], body[1:])
			ok = 1
			at += 300 * time.Millisecond // EEPROM
		}
		reply = append(append(reply, ok), s.settings[:]...)
	case lidarwire.SICKStatus:
		reply = s.status(reply)
	default:
		s.out[len(s.out)-1] = lidarwire.SICKNak
		s.answer = at
		return
	}
	s.queue(append(reply, status), at)
}

// mode changes the mode; it returns the status for the reply.
func (s *SICK) mode(p []byte) byte {
	if len(p) == 0 {
		return 2
	}
	switch p[0] {
	case lidarwire.SICKInstall:
		if s.Refuses || string(p[1:]) != lidarwire.SICKPassword {
			return 1
		}
		s.install, s.stream = true, nil
	case lidarwire.SICKRequest:
		s.install, s.stream = false, nil
	default:
		if o, ok := s.measuringMode(p); ok {
			s.install, s.stream = false, &o
			return 0
		}
		for _, b := range lidar.SICKBauds() {
			if b.Mode == p[0] {
				s.rate = b.Rate
				return 0
			}
		}
		return 2
	}
	return 0
}

func (s *SICK) status(reply []byte) []byte {
	p := append(reply, make([]byte, lidarwire.SICKStatusLen-1)...)
	copy(p[1:], "V02.30 ")
	p[8] = lidarwire.SICKRequest
	if s.stream != nil {
		p[8] = s.stream.mode
	}
	p[102], p[122], p[123] = s.settings[lidarwire.SICKModeByte], s.settings[lidarwire.SICKUnitByte], 1
	binary.LittleEndian.PutUint16(p[107:], uint16(s.angle))
	binary.LittleEndian.PutUint16(p[109:], uint16(s.resolution))
	return p
}
