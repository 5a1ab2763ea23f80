package lidar

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
	"github.com/halyard-robotics/halyard/servo"
)

// RPLidarSettings are the settings of an RPLIDAR.
type RPLidarSettings struct {
	Name string       // the bus's, for errors
	Line servo.Opener // opens the line, and opens it again
	// of a turn, 8 to 3600; 0 = 360. The nearest sample in a ray's sector counts; a sector without one is NaN
	Rays  int
	Drive RPLidarDrive // of the motor
	PWM   int          // of RPLidarPWM, 1 to 1023; 0 = RPLidarUsualPWM
	// Encoding is the scan that is asked for; 0 = express, in mode 0, which all firmware since 1.17 has: S and C models
	// answer it with dense capsules, which are taken, and older firmware not at all: it gives a standard scan then.
	// Ultra and dense scans are asked for in the mode in which the scanner reports that it has them. The standard scan
	// (RPLidarNodes) has no checksum: a sample that neither its neighbours nor the turn before agree with counts as not
	// measured.
	Encoding RPLidarEncoding
}

// RPLidar is one scanner that looks all around. It is a drivers.Sensor of Geometry().Count values.
type RPLidar struct {
	link
	s        RPLidarSettings
	geometry ScanGeometry
	out      []byte
	nodes    *lidarwire.RPNodeParser
	capsules *rpCapsuleParser // nil for a standard scan
	hq       *servo.Framer    // of an HQ scan; nil = another
	capsule  RPCapsule        // the last one
	span     int              // how far the capsule before reached, 1/64 °
	misfits  int              // capsules in a row that did not reach as far as the ones before
	met      bool             // it ever answered
	note     string
	turn     rpTurn
	scan     []float64
	Model    byte   // reported by the scanner, after Open
	Firmware string // "1.29", likewise
	Serial   string // 32 hexadecimal digits, likewise
}

// dtr is a line whose modem line DTR can be set: drivers/serial's on an adapter.
type dtr interface{ SetDTR(on bool) error }

// NewRPLidar returns the scanner with settings s. It does no I/O.
func NewRPLidar(s RPLidarSettings) (*RPLidar, error) {
	s.Rays = cmp.Or(s.Rays, 360)
	s.PWM = cmp.Or(s.PWM, lidarwire.RPLidarUsualPWM)
	s.Encoding = cmp.Or(s.Encoding, RPLidarExpressed)
	var err error
	samples := rpSizes[s.Encoding].samples
	switch {
	case s.Line == nil:
		err = errors.New("line: missing")
	case samples == 0 && s.Encoding != RPLidarNodes:
		err = fmt.Errorf("encoding: got 0x%02X, want 0x81, 0x82, 0x84 or 0x85", byte(s.Encoding))
	case s.Rays < 8 || s.Rays > 3600:
		err = fmt.Errorf("rays: got %d, want 8..3600", s.Rays)
	case s.PWM < 1 || s.PWM > 1023:
		err = fmt.Errorf("pwm: got %d, want 1..1023", s.PWM)
	case s.Drive > RPLidarFree:
		err = fmt.Errorf("drive: got %d, want 0..%d", s.Drive, RPLidarFree)
	}
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Bus: s.Name, Op: "rplidar", Err: err}
	}
	d := &RPLidar{link: newLink(s.Name, "rplidar", s.Line, rpSpinUp), s: s,
		geometry: ScanGeometry{-math.Pi, 2 * math.Pi / float64(s.Rays), s.Rays}, nodes: lidarwire.NewRPNodeParser(),
		turn: newTurn(s.Rays), scan: make([]float64, s.Rays)}
	if samples > 0 {
		d.capsules = NewRPCapsuleParser(s.Encoding)
	}
	return d, nil
}

// Geometry is where the rays look: all around, from behind over the right.
func (d *RPLidar) Geometry() ScanGeometry { return d.geometry }

// Times of a scanner.
const (
	rpAnswer      = 60 * time.Millisecond
	rpQuiet       = 5 * time.Millisecond   // silence after a stop
	rpMaxTurnTime = 250 * time.Millisecond // a turn
	rpBoot        = 3 * time.Second        // it boots: 1.5 s of an A1
	rpAgain       = 70 * time.Millisecond  // a second question to one that was there before
	rpAttempts    = 3                      // to begin an express scan
	rpMaxPacket   = 1 << 10                // bytes
	// rpSpinUp is the time until a started motor gives scans. Opening again before that would stop an A1's motor.
	rpSpinUp = 3 * time.Second
)

// Open stops a running scan, checks the scanner's health, and starts motor and scan: 50 ms, or up to rpBoot for one
// that boots, as an A1 does when its port is opened.
func (d *RPLidar) Open() error {
	if err := d.open(); err != nil {
		return err
	}
	d.note = ""
	patience := time.Duration(rpBoot)
	if d.met { // it was there before: it is gone, has no power, or is opened again
		patience = rpAgain
	}
	if err := d.meet(patience); err != nil {
		return err
	}
	if err := d.healthy(); err != nil {
		return err
	}
	mode, err := byte(0), error(nil)
	if e := d.s.Encoding; e == RPLidarUltra || e == RPLidarDense || e == RPLidarUltraDense {
		if mode, err = d.modeOf(e); err != nil {
			return err
		}
	}
	if err := d.spin(true); err != nil {
		return err
	}
	d.nodes.Reset()
	d.span, d.misfits = 0, 0
	d.turn.reset()
	if err := d.start(mode); err != nil {
		return err
	}
	d.fresh = true
	return nil
}

// meet waits until the scanner answers, at least for a second question. One that boots sends a text and hears nothing
// for 1.5 s.
func (d *RPLidar) meet(patience time.Duration) error {
	began := d.port.Line.Now()
	var last error
	for asked := 1; ; asked++ {
		if err := d.stop(); err != nil {
			return err
		}
		info, err := d.ask(lidarwire.RpTypeInfo, 20, lidarwire.RPLidarInfo)
		if err == nil {
			d.Model, d.Firmware, d.Serial, d.met = info[0], fmt.Sprintf("%d.%02d", info[2], info[1]),
				fmt.Sprintf("%X", info[4:20]), true
			return nil
		}
		if last = err; errors.Is(err, servo.ErrDisconnected) {
			return err
		}
		// It may still wait for the rest of a request of which bytes were lost: as much as there can be.
		var rest [lidarwire.RpRequest]byte
		if err := d.write(rest[:]); err != nil {
			return err
		}
		if asked > 1 && d.port.Line.Now()-began >= patience {
			break
		}
	}
	if !d.met {
		if rate := d.otherRate(); rate > 0 {
			return d.faultf(hal.Invalid, "it answers at %d baud, not at the %d of its bus (try baud: %d)", rate,
				d.port.Line.Baud(), rate)
		}
	}
	if text := []byte("RP LIDAR"); bytes.Contains(d.heard, text) {
		return d.faultf(hal.Absent, "it boots, and does not answer within %v: %w", patience, servo.ErrNoReply)
	}
	return d.unanswered(fmt.Sprintf("no answer to %02X", byte(lidarwire.RPLidarInfo)), last)
}

// otherRate is the rate at which a scanner answers that does not at ours; 0 = none.
func (d *RPLidar) otherRate() (found int) {
	own, heard := d.port.Line.Baud(), len(d.heard)
	for _, rate := range d.rates(own, 115200, 256000, 460800, 1000000)[1:] {
		if d.tune(rate) != nil || d.stop() != nil {
			break
		}
		if _, err := d.ask(lidarwire.RpTypeInfo, 20, lidarwire.RPLidarInfo); err == nil {
			found = rate
			break
		}
	}
	d.heard = d.heard[:heard]
	_ = d.tune(own) // the error that is reported is the scanner's
	return found
}

// healthy asks for the scanner's health. One that protects itself can only begin again.
func (d *RPLidar) healthy() error {
	for reset := false; ; reset = true {
		health, err := d.ask(lidarwire.RpTypeHealth, 3, lidarwire.RPLidarHealth)
		if err != nil {
			return err
		}
		code := binary.LittleEndian.Uint16(health[1:])
		switch {
		case health[0] == 1:
			d.note = fmt.Sprintf("it warns of its health, code %04X", code)
			return nil
		case health[0] != 2:
			return nil
		case reset:
			return d.faultf(hal.BusFault, "health: error %04X, after a reset too: %w", code, servo.ErrReported)
		}
		if err := errors.Join(d.send(lidarwire.RPLidarReset), d.meet(rpBoot)); err != nil {
			return fmt.Errorf("health: error %04X, then a reset: %w", code, err)
		}
	}
}

// start begins the scan in a mode. It takes the encoding that is answered: S and C models answer mode 0 with dense
// capsules. Firmware before 1.17 does not answer an express scan at all; the standard one is taken then.
func (d *RPLidar) start(mode byte) (err error) {
	kind, length := byte(0), 0
	for range rpAttempts {
		if d.s.Encoding == RPLidarNodes {
			break
		}
		if kind, length, _, err = d.begin(0, lidarwire.RPLidarExpress, mode, 0, 0, 0, 0); err == nil {
			break
		}
		if errors.Is(err, servo.ErrDisconnected) {
			return err
		}
		if err := d.stop(); err != nil {
			return err
		}
	}
	size := rpSizes[kind]
	switch {
	case kind == byte(RPLidarNodes) && length == lidarwire.RpNode:
		d.capsules, d.hq = nil, nil
		return nil
	case kind == lidarwire.RpTypeHQ && length == lidarwire.RpHQ:
		d.capsules, d.hq = nil, newHQFramer()
		return nil
	case size.bytes > 0 && size.bytes == length:
		if d.s.Encoding != RPLidarExpressed && d.s.Encoding != RPLidarEncoding(kind) {
			d.note = fmt.Sprintf("it was asked for encoding 0x%02X and sends 0x%02X, which is taken",
				byte(d.s.Encoding), kind)
		}
		d.capsules, d.hq = NewRPCapsuleParser(RPLidarEncoding(kind)), nil
		return nil
	case d.s.Encoding != RPLidarNodes && kind != 0:
		d.note = fmt.Sprintf("it sends encoding 0x%02X, which is not known: its standard scan is taken", kind)
	case d.s.Encoding != RPLidarNodes:
		d.note = "firmware " + d.Firmware +
			" does not answer an express scan: its standard scan is taken, which has fewer samples and no checksum"
	}
	if err := d.stop(); err != nil {
		return err
	}
	d.capsules, d.hq = nil, nil
	kind, length, _, err = d.begin(0, lidarwire.RPLidarScan)
	if err == nil && (kind != byte(RPLidarNodes) || length != lidarwire.RpNode) {
		err = d.faultf(hal.BusFault, "answer to %02X: got encoding 0x%02X of %d bytes, want 0x81 of %d",
			byte(lidarwire.RPLidarScan), kind, length, lidarwire.RpNode)
	}
	return err
}

// Restart forgets the turn under way.
func (d *RPLidar) Restart() {
	d.turn.reset()
	d.nodes.Reset()
	if d.capsules != nil {
		d.capsules.Reset()
	}
	if d.hq != nil {
		d.hq.Reset()
	}
}

// newHQFramer finds HQ packets in a stream.
func newHQFramer() *servo.Framer {
	f := servo.NewFramer(lidarwire.RpHQ, servo.Rules{
		First: func(b byte) bool { return b == lidarwire.RpStart },
		Frame: func([]byte) (int, bool) { return lidarwire.RpHQ, true },
		Check: lidarwire.SoundRPHQ,
	})
	return &f
}

// precise adds the samples of an HQ packet to the turn; true where one ended.
func (d *RPLidar) precise(p []byte, now time.Duration) (ended bool) {
	for k := range lidarwire.RpHQSamples {
		n := lidarwire.RPHQSample(p, k)
		if d.turn.add(int(n.Angle)*90*64>>14, float64(n.Range)/4000, now) {
			copy(d.scan, d.turn.was)
			ended = true
		}
	}
	return ended
}

// Note is what is odd about the scanner.
func (d *RPLidar) Note() string { return d.note }

// modeOf asks the scanner in which of its modes it sends an encoding.
func (d *RPLidar) modeOf(e RPLidarEncoding) (mode byte, err error) {
	answer, err := d.ask(lidarwire.RpTypeConf, 6, lidarwire.RPLidarConf, lidarwire.RPConfModes, 0, 0, 0)
	if err != nil {
		return 0, fmt.Errorf("modes: %w", err)
	}
	for mode := range min(answer[4], rpMaxModes) {
		answer, err := d.ask(lidarwire.RpTypeConf, 5, lidarwire.RPLidarConf, lidarwire.RPConfEncoding, 0, 0, 0, mode, 0)
		if err != nil {
			return 0, fmt.Errorf("encoding of mode %d: %w", mode, err)
		}
		if RPLidarEncoding(answer[4]) == e {
			return mode, nil
		}
	}
	return 0, d.faultf(hal.Invalid, "encoding: got 0x%02X, which none of the scanner's modes has", byte(e))
}

// rpMaxModes bounds how many modes a scanner is asked about.
const rpMaxModes = 16

// spin starts or stops the motor.
func (d *RPLidar) spin(on bool) error {
	switch d.s.Drive {
	case RPLidarDTR:
		m, ok := d.port.Line.(dtr)
		if !ok {
			return d.faultf(hal.Invalid, "motor: this line has no DTR; want drive pwm or free")
		}
		if err := m.SetDTR(!on); err != nil {
			return d.fault(hal.BusFault, err)
		}
	case RPLidarPWM:
		pwm := 0
		if on {
			pwm = d.s.PWM
		}
		return d.send(lidarwire.RPLidarMotor, byte(pwm), byte(pwm>>8))
	}
	return nil
}

// send sends a request.
func (d *RPLidar) send(c lidarwire.RPLidarCommand, payload ...byte) error {
	d.out = lidarwire.AppendRPLidar(d.out[:0], c, payload...)
	return d.write(d.out)
}

// stop ends a scan and waits until it is quiet.
func (d *RPLidar) stop() error {
	if err := d.send(lidarwire.RPLidarStop); err != nil {
		return err
	}
	for until := d.port.Line.Now() + rpAnswer; d.port.Line.Now() < until; {
		_, err := d.read(d.port.Line.Now() + rpQuiet)
		if errors.Is(err, servo.ErrNoReply) {
			return nil
		}
		if err != nil {
			return d.fault(hal.BusFault, err)
		}
	}
	return nil // a scanner that keeps sending did not receive the stop; the next reply shows it
}

// begin sends a request and waits for the descriptor of its reply: its type, the length of its packets, and the bytes
// received after it. want is the type of an answer, 0 for a scan. The answer to another request is passed over.
func (d *RPLidar) begin(want byte, c lidarwire.RPLidarCommand, payload ...byte) (kind byte, length int, rest []byte,
	err error) {
	if err := d.send(c, payload...); err != nil {
		return 0, 0, nil, err
	}
	deadline := d.port.Line.Now() + rpAnswer + d.wire(len(d.out)+lidarwire.RpDescriptor+rpUDenseBytes)
	for got := []byte(nil); ; {
		piece, err := d.read(deadline)
		if err == nil && len(got) > 4*len(d.raw) {
			err = servo.Foreign(got)
		}
		if err != nil {
			return 0, 0, nil, d.fault(hal.BusFault, fmt.Errorf("answer to %02X: %w", byte(c), err))
		}
		got = append(got, piece...)
		for at := 0; ; {
			i := bytes.Index(got[at:], []byte{lidarwire.RpStart, lidarwire.RpReply})
			if i < 0 || len(got)-at-i < lidarwire.RpDescriptor {
				break
			}
			at += i
			word, kind := binary.LittleEndian.Uint32(got[at+2:]), got[at+6]
			if length := int(word & (1<<30 - 1)); (want == 0 && word>>30 == lidarwire.RpStream ||
				want == kind && want != 0) &&
				length > 0 && length <= rpMaxPacket {
				return kind, length, got[at+lidarwire.RpDescriptor:], nil
			}
			at++
		}
	}
}

// ask sends a request and waits for its one answer of a type, of length bytes at least.
func (d *RPLidar) ask(want byte, length int, c lidarwire.RPLidarCommand, payload ...byte) ([]byte, error) {
	_, size, got, err := d.begin(want, c, payload...)
	if err == nil && size < length {
		err = d.faultf(hal.BusFault, "answer to %02X: got %d bytes, want %d", byte(c), size, length)
	}
	for deadline := d.port.Line.Now() + rpQuiet + d.wire(length); err == nil && len(got) < length; {
		var piece []byte
		if piece, err = d.read(deadline); err != nil {
			return nil, d.fault(hal.BusFault, fmt.Errorf("answer to %02X: got %d bytes, want %d: %w", byte(c), len(got),
				length, err))
		}
		got = append(got, piece...)
	}
	return got, err
}

// Read waits for the end of the turn under way: 100 to 200 ms.
func (d *RPLidar) Read(values []float64) error {
	if err := d.skim(d.parse); err != nil {
		return err
	}
	if err := d.await(rpAnswer, 2*rpMaxTurnTime, d.parse); err != nil {
		return err
	}
	copy(values, d.scan)
	return nil
}

// parse feeds a piece of the stream; true where a turn ended in it.
func (d *RPLidar) parse(piece []byte) (ended bool, err error) {
	now := d.port.Line.Now()
	for len(piece) > 0 {
		if d.hq != nil {
			piece = piece[d.hq.Feed(piece):]
			for f := d.hq.Frame(); f != nil; f = d.hq.Frame() {
				ended = d.precise(f, now) || ended
			}
			continue
		}
		if d.capsules == nil {
			piece = piece[d.nodes.Feed(piece):]
			for n := (lidarwire.RPNode{}); d.nodes.Next(&n); {
				if d.turn.add(int(n.Angle), float64(n.Range)/4000, now) {
					copy(d.scan, d.turn.was)
					agree(d.scan, d.turn.older)
					ended = true
				}
			}
			continue
		}
		piece = piece[d.capsules.Feed(piece):]
		for d.capsules.Next(&d.capsule) {
			ended = d.spread(now) || ended
		}
	}
	return ended, nil
}

// The angle that a capsule covers is at most rpSpan, 1/64 °, for an ultra one twice that. It differs from the previous
// capsule's by at most a quarter, since the motor has inertia. After rpMisfits in a row the motor's speed has changed.
const (
	rpSpan    = 60 << 6
	rpMisfits = 8
)

// spread adds the samples of the capsule that has come to the turn; true where one ended.
func (d *RPLidar) spread(now time.Duration) (ended bool) {
	c, known, most := &d.capsule, d.span, rpSpan
	if c.Encoding == RPLidarUltra {
		most *= 2
	}
	// A capsule that went missing as a whole leaves no trace but a step that is too wide.
	switch {
	case c.Span > most:
	case known == 0 || c.Span < known-known/4:
		d.span = c.Span // not believed yet
	case c.Span > known+known/4:
		if d.misfits++; d.misfits >= rpMisfits {
			d.span, d.misfits = 0, 0
		}
	default:
		d.span, d.misfits = c.Span, 0
		for k := range c.Samples() {
			angle, mm := c.Sample(k)
			if d.turn.add(angle, float64(mm)/1000, now) {
				copy(d.scan, d.turn.was)
				ended = true
			}
		}
	}
	return ended
}

// Close ends scan and motor, and closes the line.
func (d *RPLidar) Close() error {
	if d.port.Line == nil {
		return nil
	}
	return errors.Join(d.send(lidarwire.RPLidarStop), d.spin(false), d.port.Close())
}
