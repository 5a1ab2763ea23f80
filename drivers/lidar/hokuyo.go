package lidar

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
	"github.com/halyard-robotics/halyard/servo"
)

// HokuyoSettings are the settings of a scanner with SCIP 2.0.
type HokuyoSettings struct {
	Name        string       // the bus's, for errors
	Line        servo.Opener // opens the line, and opens it again; DialTCP for those on a network
	Model       HokuyoModel
	Baud        int  // on RS-232: 19200 to 750000; 0 = 115200. On USB and TCP it does not matter
	First, Last int  // steps; both 0 = all the model has
	Cluster     int  // steps to one value, the nearest of them; 0 = 1
	Skip        int  // scans left out between two, 0 to 9
	Short       bool // two characters a value: 4.095 m at most, in less time
}

// Hokuyo is one scanner. It is a drivers.Sensor of Geometry().Count values.
type Hokuyo struct {
	link
	s        HokuyoSettings
	geometry ScanGeometry
	command  string
	size     int
	parser   *scipParser
	block    SCIPBlock
	sense    bool // something whole came since the last question
	usual    int  // the rate that it was found at when it was not at ours; 0 = it always was
	scan     []float64
	Serial   string // reported by the scanner, after Open
	Program  string
}

// NewHokuyo returns the scanner with settings s. It does no I/O.
func NewHokuyo(s HokuyoSettings) (*Hokuyo, error) {
	m := s.Model
	if s.First == 0 && s.Last == 0 {
		s.First, s.Last = m.First, m.Last
	}
	s.Cluster = cmp.Or(s.Cluster, 1)
	s.Baud = cmp.Or(s.Baud, 115200)
	var err error
	switch {
	case s.Line == nil:
		err = errors.New("line: missing")
	case m.Turn <= 0 || m.RPM <= 0 || m.Last > 9999:
		err = fmt.Errorf("model: got %+v, want one of lidar.HokuyoModels", m)
	case s.First < m.First || s.Last > m.Last || s.First > s.Last:
		err = fmt.Errorf("steps: got %d..%d, want within %d..%d", s.First, s.Last, m.First, m.Last)
	case s.Cluster < 1 || s.Cluster > 99 || s.Skip < 0 || s.Skip > 9:
		err = fmt.Errorf("cluster %d, skip %d: want 1..99 and 0..9", s.Cluster, s.Skip)
	case !slices.Contains(SCIPBauds(), s.Baud):
		err = fmt.Errorf("baud: got %d, want one of %v", s.Baud, SCIPBauds())
	}
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Bus: s.Name, Op: "hokuyo", Err: err}
	}
	h := &Hokuyo{link: newLink(s.Name, "hokuyo", s.Line, scipSpinUp), s: s, size: 3, parser: NewSCIPParser()}
	stream := lidarwire.SCIPStream
	if s.Short {
		h.size, stream = 2, lidarwire.SCIPStreamTwo
	}
	h.command = fmt.Sprintf("%s%04d%04d%02d%d00", stream, s.First, s.Last, s.Cluster, s.Skip)
	step := 2 * math.Pi / float64(m.Turn)
	n := (s.Last-s.First)/s.Cluster + 1
	// A cluster looks where its middle does.
	h.geometry = ScanGeometry{(float64(s.First-m.Front) + float64(s.Cluster-1)/2) * step, step * float64(s.Cluster), n}
	h.scan = make([]float64, n)
	return h, nil
}

// Geometry is where the rays look.
func (h *Hokuyo) Geometry() ScanGeometry { return h.geometry }

// errOtherEcho reports that bytes sent at another rate were in front of the command, in one line with it.
var errOtherEcho = errors.New("the scanner echoed a different command")

// scipTimeout is the timeout of a reply; its laser, and TCP, need most of it.
const scipTimeout = 80 * time.Millisecond

// scipSpinUp is the time in which the first scan begins after the laser was switched on.
const scipSpinUp = time.Second

// Open finds the scanner, sees that it is the model it should be, and starts the stream. It blocks for half a second at
// most where there is one.
func (h *Hokuyo) Open() error {
	if err := h.open(); err != nil {
		return err
	}
	if err := h.find(); err != nil {
		return err
	}
	if _, err := h.ask(lidarwire.SCIPVersion, lidarwire.SCIPOK); err != nil {
		return err
	}
	h.Serial, _ = h.block.Field("SERI")
	h.Program, _ = h.block.Field("FIRM")
	if _, err := h.ask(lidarwire.SCIPParameters, lidarwire.SCIPOK); err != nil {
		return err
	}
	m := h.s.Model
	for _, want := range [...]struct {
		key   string
		value int
	}{{"ARES", m.Turn}, {"AMIN", m.First}, {"AMAX", m.Last}, {"AFRT", m.Front}, {"DMIN", m.MinRange}} {
		if got, err := h.block.Number(want.key); err != nil || got != want.value {
			name, _ := h.block.Field("MODL")
			return h.faultf(hal.Invalid, "model %q: %s: got %d, want %d of a %s", name, want.key, got, want.value,
				m.Name)
		}
	}
	if _, err := h.ask(lidarwire.SCIPLaserOn, lidarwire.SCIPOK, lidarwire.SCIPAlready); err != nil {
		return err
	}
	_, err := h.ask(h.command, lidarwire.SCIPOK)
	h.fresh = err == nil
	return err
}

// find makes the scanner answer at our rate, quiet.
func (h *Hokuyo) find() error {
	rates := []int{h.s.Baud, 19200, 115200, 38400}
	if h.usual > 0 {
		rates = []int{h.s.Baud, h.usual} // where it was, or where it is after power-on
	}
	var last error
	for _, rate := range h.rates(rates...) {
		if err := h.tune(rate); err != nil {
			return err
		}
		var status string
		for range 2 {
			if status, last = h.ask(lidarwire.SCIPLaserOff, lidarwire.SCIPOK, lidarwire.SCIPUnknown,
				lidarwire.SCIPOldUnknown); !errors.Is(last, errOtherEcho) {
				break
			}
		}
		if status == lidarwire.SCIPOldUnknown {
			if _, err := h.ask(lidarwire.SCIPSwitch, lidarwire.SCIPOldOK, lidarwire.SCIPOK); err != nil {
				return err
			}
			status, last = h.ask(lidarwire.SCIPLaserOff, lidarwire.SCIPOK)
		}
		if last != nil {
			if errors.Is(last, servo.ErrDisconnected) || h.sense {
				return last // gone; or it is at this rate, and did not receive
			}
			continue
		}
		if status == lidarwire.SCIPUnknown { // it was setting its clock
			if _, err := h.ask(lidarwire.SCIPTime+"2", lidarwire.SCIPOK); err != nil {
				return err
			}
		}
		if rate == h.s.Baud || !h.tuned() {
			return nil
		}
		h.usual = rate
		if _, err := h.ask(fmt.Sprintf("%s%06d", lidarwire.SCIPRate, h.s.Baud), lidarwire.SCIPOK,
			lidarwire.SCIPSame); err != nil {
			return err
		}
		return h.tune(h.s.Baud)
	}
	return h.unanswered("no scanner answers at any rate", last)
}

// ask sends a command and waits for its answer, which must have one of the statuses; it is in block then. Scans that
// are on the wire are passed over.
func (h *Hokuyo) ask(command string, statuses ...string) (string, error) {
	h.parser.Reset()
	h.sense = false
	if err := h.write([]byte(command + "\n")); err != nil {
		return "", err
	}
	now := h.port.Line.Now()
	silence := now + scipTimeout + h.wire(len(command)+1)
	whole := silence + h.wire(h.scanSize())
	// at another rate only a stream that was started before can be on the line
	if h.tuned() && h.port.Line.Baud() != h.s.Baud {
		whole = silence + scipTimeout/2
	}
	for deadline := silence; ; {
		piece, err := h.read(deadline)
		if err != nil {
			return "", h.fault(hal.BusFault, fmt.Errorf("answer to %s: %w", command, err))
		}
		// A block that has begun is received to its end.
		deadline = max(silence, min(whole, h.port.Line.Now()+scipTimeout/2))
		for len(piece) > 0 {
			piece = piece[h.parser.Feed(piece):]
			for h.parser.Next(&h.block) {
				h.sense = true
				if echo := h.block.Echo; string(echo) != command {
					if bytes.HasSuffix(echo, []byte(command)) {
						return "", h.fault(hal.BusFault, errOtherEcho)
					}
					continue
				}
				status := string(h.block.Status)
				if !slices.Contains(statuses, status) {
					return status, h.refused(command, command, status, statuses...)
				}
				return status, nil
			}
		}
	}
}

// refused is the error of a status.
func (h *Hokuyo) refused(what, command, status string, want ...string) error {
	if meaning := scipMeaning(command, status); meaning != "" {
		return h.faultf(hal.BusFault, "%s: got status %s (%s), want %v: %w", what, status, meaning, want,
			servo.ErrReported)
	}
	return h.faultf(hal.BusFault, "%s: got status %s, want %v: %w", what, status, want, servo.ErrReported)
}

// Read waits for the next scan: a turn of the mirror, 25 to 100 ms, or the time of the wire.
func (h *Hokuyo) Read(values []float64) error {
	if err := h.skim(h.parse); err != nil {
		return err
	}
	turn := time.Minute / time.Duration(h.s.Model.RPM) * time.Duration(1+h.s.Skip)
	wire := h.wire(h.scanSize())
	if err := h.await(turn+scipTimeout/2, 2*max(turn, wire)+scipTimeout/2, h.parse); err != nil {
		return err
	}
	copy(values, h.scan)
	return nil
}

// scanSize is how many bytes a scan has on the wire, about.
func (h *Hokuyo) scanSize() int {
	return h.size*h.geometry.Count*(lidarwire.ScipLine+2)/lidarwire.ScipLine + 40
}

// parse feeds a piece of the stream; true where a scan ended in it.
func (h *Hokuyo) parse(piece []byte) (scanned bool, err error) {
	for len(piece) > 0 {
		piece = piece[h.parser.Feed(piece):]
		for h.parser.Next(&h.block) {
			k := &h.block
			switch {
			case !k.Is(h.command[:len(h.command)-2]):
				continue // an answer that came late
			case string(k.Status) == lidarwire.SCIPOK, string(k.Status) == lidarwire.SCIPResumed:
				continue // the stream begins, or goes on after a pause
			case string(k.Status) != lidarwire.SCIPData:
				return false, h.refused("scan", h.command, string(k.Status), lidarwire.SCIPData)
			}
			if _, err := k.Scan(h.size, &h.s.Model, h.scan); err != nil {
				return false, h.fault(hal.BusFault, err)
			}
			scanned = true
		}
	}
	return scanned, nil
}

// Close ends the stream, which switches the laser off, and closes the line.
func (h *Hokuyo) Close() error {
	if h.port.Line == nil {
		return nil
	}
	_, err := h.ask(lidarwire.SCIPLaserOff, lidarwire.SCIPOK)
	return errors.Join(err, h.port.Close())
}
