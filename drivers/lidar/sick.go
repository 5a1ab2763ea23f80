package lidar

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
	"github.com/halyard-robotics/halyard/servo"
)

// SICKSettings are the settings of an LMS200 or LMS291.
type SICKSettings struct {
	Name        string       // the bus's, for errors
	Line        servo.Opener // opens the line, and opens it again
	Baud        int          // 38400 or, with RS-422, 500000; 0 = 38400
	Angle       int          // 100 or 180 °; 0 = 180
	Resolution  int          // 100, 50 or, at 100 °, 25: 1/100 °; 0 = 50
	Reach       float64      // 8, 16 or 32 m; 0 = 8. In centimetres 8 is 80
	Centimetres bool         // units of a value; else millimetres
	Address     byte         // 0 but for several on a line
	// Request asks for each scan, as a line with several scanners needs it; else the scanner streams. Asked for one a
	// scan takes up to a turn of the mirror longer.
	Request bool
}

// SICK is one scanner. It is a drivers.Sensor of Geometry().Count values.
type SICK struct {
	link
	s        SICKSettings
	reach    lidarwire.SICKReach
	geometry ScanGeometry
	parser   *lidarwire.SICKParser
	out      []byte
	scan     []float64
	known    int    // the rate that it answered at last
	met      bool   // it ever answered
	Type     string // "LMS200;30106;V02.30", after Open
}

// NewSICK returns the scanner with settings s. It does no I/O.
func NewSICK(s SICKSettings) (*SICK, error) {
	s.Baud, s.Angle, s.Resolution = cmp.Or(s.Baud, 38400), cmp.Or(s.Angle, 180), cmp.Or(s.Resolution, 50)
	reach, err := lidarwire.SickReach(s.Reach)
	switch {
	case err != nil:
	case s.Line == nil:
		err = errors.New("line: missing")
	case sickRate(s.Baud) == 0:
		err = fmt.Errorf("baud: got %d, want 9600, 19200, 38400 or 500000", s.Baud)
	case s.Angle != 100 && s.Angle != 180,
		s.Resolution != 100 && s.Resolution != 50 && (s.Resolution != 25 || s.Angle != 100):
		err = fmt.Errorf("fan: got %d ° by %d/100 °, want 100 or 180 ° by 1 or 1/2, or 100 ° by 1/4", s.Angle,
			s.Resolution)
	}
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Bus: s.Name, Op: "lms", Err: err}
	}
	d := &SICK{link: newLink(s.Name, "lms", s.Line, sickSpinUp), s: s, reach: reach, known: s.Baud,
		parser: lidarwire.NewSICKParser(lidarwire.SICKReplyBit | s.Address)}
	d.geometry = ScanGeometry{-float64(s.Angle) / 2 * degree, float64(s.Resolution) / 100 * degree,
		100*s.Angle/s.Resolution + 1}
	d.scan = make([]float64, d.geometry.Count)
	return d, nil
}

// sickRate is the mode that sets a rate, 0 if absent.
func sickRate(baud int) byte {
	for _, b := range SICKBauds() {
		if b.Rate == baud {
			return b.Mode
		}
	}
	return 0
}

// Geometry is where the rays look.
func (d *SICK) Geometry() ScanGeometry { return d.geometry }

// Times of a scanner.
const (
	sickAck    = 60 * time.Millisecond // from a command to its acknowledgement
	sickSlack  = 20 * time.Millisecond
	sickSpinUp = time.Second              // until the first scan of a stream
	sickStore  = 3 * time.Second          // settings are written to EEPROM
	sickMirror = 13333 * time.Microsecond // a turn of the mirror: a scan at 1°
	// sickForeign is the timeout of a reply while bytes are received at another rate.
	sickForeign = 50 * time.Millisecond
	sickScan    = lidarwire.SickFrame + 4 + 2*361 + 10 // bytes that may be on the wire when a command goes out
)

// Open finds the scanner at any of its rates, sets its rate and settings, and starts the stream. A wrong settings byte
// is written once, to its EEPROM. It blocks for half a second, or a few seconds with a write. After power-on the
// scanner needs up to a minute before it answers.
func (d *SICK) Open() error {
	if err := d.open(); err != nil {
		return err
	}
	if err := d.find(); err != nil {
		return err
	}
	p, err := d.ask(sickAck, 0, byte(lidarwire.SICKType))
	if err != nil {
		return err
	}
	// A text and the status, both of which a broken scanner may leave out.
	if d.Type = string(bytes.TrimRight(p[1:max(1, len(p)-1)], " \x00")); !strings.HasPrefix(d.Type, "LMS2") {
		return d.faultf(hal.Absent, "type: got %q, want an LMS2xx", d.Type)
	}
	variant := [...]byte{byte(lidarwire.SICKVariant), byte(d.s.Angle), 0, byte(d.s.Resolution), 0}
	if p, err = d.ask(sickAck, 0, variant[:]...); err != nil {
		return err
	}
	if len(p) < 6 || p[1] != 1 || !bytes.Equal(p[2:6], variant[1:]) {
		return d.faultf(hal.Invalid, "variant: got % X, want 01 % X", p, variant[1:])
	}
	if err := d.configure(); err != nil {
		return err
	}
	err = d.begin()
	d.fresh = err == nil
	return err
}

// begin starts the stream, where there is to be one.
func (d *SICK) begin() error {
	if d.s.Request {
		return nil // it is in the mode of requests
	}
	return d.mode(sickAck, lidarwire.SICKStream)
}

// find makes the scanner answer at our rate, in the mode of requests.
func (d *SICK) find() error {
	rates := []int{d.known, d.s.Baud, 9600, 38400, 500000, 19200}
	if d.met { // where it was, or where it is after power-on
		rates = rates[:3]
	}
	var last error
	for _, rate := range d.rates(rates...) {
		if err := d.tune(rate); err != nil {
			return err
		}
		if last = d.mode(sickAck, lidarwire.SICKRequest); last != nil {
			if errors.Is(last, servo.ErrDisconnected) {
				return last
			}
			continue
		}
		d.met = true
		if d.known = rate; rate == d.s.Baud || !d.tuned() {
			return nil
		}
		// The answer still comes at the old rate.
		if err := d.mode(sickAck, sickRate(d.s.Baud)); err != nil {
			return err
		}
		if err := d.tune(d.s.Baud); err != nil {
			return err
		}
		if err := d.mode(sickAck, lidarwire.SICKRequest); err != nil {
			return err
		}
		d.known = d.s.Baud
		return nil
	}
	return d.unanswered("no scanner answers at any rate", last)
}

// configure writes the settings where they are not as they should be.
func (d *SICK) configure() error {
	p, err := d.ask(sickAck, 0, byte(lidarwire.SICKConfig))
	if err != nil {
		return err
	}
	if len(p) < 1+lidarwire.SICKSettingsLen {
		return d.faultf(hal.BusFault, "settings: got %d bytes, want %d", len(p), 1+lidarwire.SICKSettingsLen)
	}
	unit := byte(lidarwire.SickMillimetre)
	if d.s.Centimetres {
		unit = lidarwire.SickCentimetre
	}
	if p[1+lidarwire.SICKModeByte] == d.reach.Mode && p[1+lidarwire.SICKUnitByte] == unit {
		return nil
	}
	want := append([]byte{byte(lidarwire.SICKConfigure)}, p[1:1+lidarwire.SICKSettingsLen]...)
	want[1+lidarwire.SICKModeByte], want[1+lidarwire.SICKUnitByte] = d.reach.Mode, unit
	if err := d.mode(sickStore, append([]byte{lidarwire.SICKInstall}, lidarwire.SICKPassword...)...); err != nil {
		return err
	}
	if p, err = d.ask(sickStore, 0, want...); err != nil {
		return err
	}
	if len(p) < 2 || p[1] != 1 {
		return d.faultf(hal.BusFault, "settings: got % X, want 01: %w", p, servo.ErrReported)
	}
	return d.mode(sickStore, lidarwire.SICKRequest)
}

// mode changes the mode and sees that it was done.
func (d *SICK) mode(timeout time.Duration, mode ...byte) error {
	p, err := d.ask(timeout, lidarwire.SICKModeReply, append([]byte{byte(lidarwire.SICKMode)}, mode...)...)
	if err == nil && (len(p) < 2 || p[1] != 0) {
		err = d.faultf(hal.BusFault, "mode %02X: got % X, want 00: %w", mode[0], p, servo.ErrReported)
	}
	return err
}

// ask sends a telegram of body and waits for its reply, which is valid until the next use of the parser. reply 0 means
// the command with bit 7. The reply may come after a scan on the wire; without any bytes the timeout is short.
func (d *SICK) ask(timeout time.Duration, reply byte, body ...byte) ([]byte, error) {
	reply = cmp.Or(reply, body[0]|lidarwire.SICKReplyBit)
	d.out = lidarwire.AppendSICK(d.out[:0], d.s.Address, body)
	d.parser.Reset() // bytes like the header of a long telegram would swallow the reply
	if err := d.write(d.out); err != nil {
		return nil, err
	}
	now := d.port.Line.Now()
	silence := now + timeout + d.wire(len(d.out)) + sickSlack
	// A scan on the wire comes first; at another rate only a stream that was started before can be on the line.
	whole := silence + d.wire(sickScan+lidarwire.SICKStatusLen)
	if d.tuned() && d.port.Line.Baud() != d.s.Baud {
		whole = silence + sickForeign + d.wire(lidarwire.SICKStatusLen)
	}
	for deadline := silence; ; {
		piece, err := d.read(deadline)
		if err != nil {
			return nil, d.fault(hal.BusFault, fmt.Errorf("answer to %02X: %w", body[0], err))
		}
		deadline = whole
		for len(piece) > 0 {
			piece = piece[d.parser.Feed(piece):]
			for p := d.parser.Body(); p != nil; p = d.parser.Body() {
				if p[0] == reply {
					return p, nil
				}
			}
		}
	}
}

// Lag is the time of a scan on the line, plus half of its turn.
func (d *SICK) Lag() time.Duration {
	const turn = time.Second / 75
	return d.wire(lidarwire.SickFrame+4+2*d.geometry.Count) + turn/2
}

// Read waits for the next scan: some tens of milliseconds at 500 kbaud, up to 190 at 38400.
func (d *SICK) Read(values []float64) error {
	if d.s.Request {
		return d.request(values)
	}
	if err := d.skim(d.parse); err != nil {
		return err
	}
	period := sickMirror * time.Duration(100/d.s.Resolution)
	whole := max(period, d.wire(lidarwire.SickFrame+4+2*d.geometry.Count))
	if err := d.await(period+sickAck, 2*whole+sickAck, d.parse); err != nil {
		return err
	}
	copy(values, d.scan)
	return nil
}

// request asks for one scan.
func (d *SICK) request(values []float64) error {
	if d.port.Line == nil {
		return d.fault(hal.Absent, servo.ErrDisconnected)
	}
	p, err := d.ask(sickAck, lidarwire.SICKRanges, byte(lidarwire.SICKScan), 1)
	if err == nil {
		err = d.decode(p)
	}
	if err != nil {
		return err
	}
	copy(values, d.scan)
	return nil
}

// decode takes a scan.
func (d *SICK) decode(p []byte) error {
	status, err := lidarwire.DecodeSICKScan(p, d.reach.Bits, d.scan)
	if err == nil && status&lidarwire.SickLevel >= lidarwire.SickError {
		err = fmt.Errorf("scan: status %02X: an error: %w", status, servo.ErrReported)
	}
	if err != nil {
		return d.fault(hal.BusFault, err)
	}
	return nil
}

// parse feeds a piece of the stream; true where a scan ended in it.
func (d *SICK) parse(piece []byte) (scanned bool, err error) {
	for len(piece) > 0 {
		piece = piece[d.parser.Feed(piece):]
		for p := d.parser.Body(); p != nil; p = d.parser.Body() {
			switch p[0] {
			case lidarwire.SICKStarted:
				return false, d.faultf(hal.Absent, "scan: the scanner has restarted")
			case lidarwire.SICKRanges:
				if err := d.decode(p); err != nil {
					return false, err
				}
				scanned = true
			}
		}
	}
	return scanned, nil
}

// Close ends the stream, gives the scanner its rate of power-on back, so that others find it, and closes the line.
func (d *SICK) Close() error {
	if d.port.Line == nil {
		return nil
	}
	err := d.mode(sickAck, lidarwire.SICKRequest)
	if err == nil && d.tuned() && d.s.Baud != 9600 {
		if err = d.mode(sickAck, sickRate(9600)); err == nil {
			d.known = 9600
		}
	}
	return errors.Join(err, d.port.Close())
}
