package lidar

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// RPLidarSettings are the settings of an RPLIDAR.
type RPLidarSettings struct {
	Name  string       // the bus's, for errors
	Line  servo.Opener // opens the line, and opens it again
	Rays  int          // of a turn, 8 to 3600; 0 = 360. The nearest sample in a ray's sector counts; a sector without one is NaN
	Drive RPLidarDrive // of the motor
	PWM   int          // of RPLidarPWM, 1 to 1023; 0 = RPLidarUsualPWM
	// Encoding is the scan that is asked for; 0 = express, in mode 0, which all firmware since 1.17 has. Ultra and dense scans are
	// asked for in the mode in which the scanner reports that it has them. The standard scan (RPLidarNodes) has no checksum: a
	// sample that neither its neighbours nor the turn before agree with counts as not measured.
	Encoding RPLidarEncoding
}

// RPLidar is one scanner that looks all around. It is a drivers.Sensor of Geometry().Count values.
type RPLidar struct {
	link
	s        RPLidarSettings
	geometry ScanGeometry
	out      []byte
	nodes    *RPNodeParser
	capsules *RPCapsuleParser // nil for a standard scan
	capsule  RPCapsule        // the last one
	span     int              // how far the capsule before reached, 1/64 °
	misfits  int              // capsules in a row that did not reach as far as the ones before
	fresh    bool             // no scan was read since Open
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
	s.PWM = cmp.Or(s.PWM, RPLidarUsualPWM)
	s.Encoding = cmp.Or(s.Encoding, RPLidarExpressed)
	var err error
	samples := rpSizes[s.Encoding].samples
	switch {
	case s.Line == nil:
		err = errors.New("line: got none, want one")
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
	d := &RPLidar{link: newLink(s.Name, "rplidar", s.Line), s: s,
		geometry: ScanGeometry{-math.Pi, 2 * math.Pi / float64(s.Rays), s.Rays}, nodes: NewRPNodeParser(),
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
	// rpSpinUp is the time until a started motor gives scans. Opening again before that would stop an A1's motor.
	rpSpinUp = 3 * time.Second
)

// Open stops a running scan, checks the scanner's health, and starts motor and scan. It blocks for about 50 ms.
func (d *RPLidar) Open() error {
	if err := d.port.Open(); err != nil {
		return err
	}
	if err := d.stop(); err != nil {
		return err
	}
	info, err := d.ask(rpTypeInfo, 20, RPLidarInfo)
	if err != nil {
		// It may still wait for the rest of a request of which bytes were lost: as much as there can be.
		var rest [rpRequest]byte
		if err := errors.Join(d.write(rest[:]), d.stop()); err != nil {
			return err
		}
		if info, err = d.ask(rpTypeInfo, 20, RPLidarInfo); err != nil {
			return err
		}
	}
	d.Model, d.Firmware, d.Serial = info[0], fmt.Sprintf("%d.%02d", info[2], info[1]), fmt.Sprintf("%X", info[4:20])
	health, err := d.ask(rpTypeHealth, 3, RPLidarHealth)
	if err != nil {
		return err
	}
	if health[0] == 2 { // it protects itself, and can only begin again
		err := d.faultf(hal.BusFault, "health: the scanner reports error %04X", binary.LittleEndian.Uint16(health[1:]))
		return errors.Join(err, d.send(RPLidarReset))
	}
	mode := byte(0)
	if d.s.Encoding == RPLidarUltra || d.s.Encoding == RPLidarDense || d.s.Encoding == RPLidarUltraDense {
		if mode, err = d.modeOf(d.s.Encoding); err != nil {
			return err
		}
	}
	if err := d.spin(true); err != nil {
		return err
	}
	d.nodes.Reset()
	d.span, d.misfits, d.fresh = 0, 0, true
	d.turn.reset()
	if d.capsules == nil {
		_, err = d.begin(byte(RPLidarNodes), rpNode, RPLidarScan)
		return err
	}
	d.capsules.Reset()
	length := rpSizes[d.s.Encoding].bytes
	_, err = d.begin(byte(d.s.Encoding), length, RPLidarExpress, mode, 0, 0, 0, 0)
	return err
}

// modeOf asks the scanner in which of its modes it sends an encoding.
func (d *RPLidar) modeOf(e RPLidarEncoding) (mode byte, err error) {
	answer, err := d.ask(rpTypeConf, 6, RPLidarConf, RPConfModes, 0, 0, 0)
	if err != nil {
		return 0, fmt.Errorf("modes: %w", err)
	}
	for mode := range min(answer[4], rpMaxModes) {
		answer, err := d.ask(rpTypeConf, 5, RPLidarConf, RPConfEncoding, 0, 0, 0, mode, 0)
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
		return d.send(RPLidarMotor, byte(pwm), byte(pwm>>8))
	}
	return nil
}

// send sends a request.
func (d *RPLidar) send(c RPLidarCommand, payload ...byte) error {
	d.out = AppendRPLidar(d.out[:0], c, payload...)
	return d.write(d.out)
}

// stop ends a scan and waits until it is quiet.
func (d *RPLidar) stop() error {
	if err := d.send(RPLidarStop); err != nil {
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

// begin sends a request and waits for the descriptor of its reply. It returns the bytes received after it.
func (d *RPLidar) begin(kind byte, length int, c RPLidarCommand, payload ...byte) ([]byte, error) {
	if err := d.send(c, payload...); err != nil {
		return nil, err
	}
	stream := kind&0x80 != 0 && kind != rpTypeBoard
	var room [rpDescriptor]byte
	want := AppendRPDescriptor(room[:0], length, stream, kind)
	deadline := d.port.Line.Now() + rpAnswer + d.wire(len(d.out)+rpDescriptor+length)
	for got := []byte(nil); ; {
		piece, err := d.read(deadline)
		if err != nil || len(got) > 4*len(d.raw) {
			if err == nil {
				err = os.ErrInvalid
			}
			return nil, d.fault(hal.BusFault, fmt.Errorf("answer to %02X: %w", byte(c), err))
		}
		got = append(got, piece...)
		if i := bytes.Index(got, want); i >= 0 {
			return got[i+len(want):], nil
		}
	}
}

// ask sends a request and waits for its one answer of length bytes.
func (d *RPLidar) ask(kind byte, length int, c RPLidarCommand, payload ...byte) ([]byte, error) {
	got, err := d.begin(kind, length, c, payload...)
	for deadline := d.port.Line.Now() + rpQuiet + d.wire(length); err == nil && len(got) < length; {
		var piece []byte
		if piece, err = d.read(deadline); err != nil {
			return nil, d.fault(hal.BusFault, fmt.Errorf("answer to %02X: got %d bytes, want %d: %w", byte(c), len(got), length, err))
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
	silence := rpAnswer
	if d.fresh {
		silence = rpSpinUp
	}
	d.fresh = false
	if err := d.await(silence, 2*rpMaxTurnTime, d.parse); err != nil {
		return err
	}
	copy(values, d.scan)
	return nil
}

// parse feeds a piece of the stream; true where a turn ended in it.
func (d *RPLidar) parse(piece []byte) (ended bool, err error) {
	now := d.port.Line.Now()
	for len(piece) > 0 {
		if d.capsules == nil {
			piece = piece[d.nodes.Feed(piece):]
			for n := (RPNode{}); d.nodes.Next(&n); {
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
	return errors.Join(d.send(RPLidarStop), d.spin(false), d.port.Close())
}
