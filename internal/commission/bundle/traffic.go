package bundle

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"periph.io/x/conn/v3/i2c"
	"periph.io/x/conn/v3/physic"

	"github.com/halyard-robotics/halyard/configs"
	halyardi2c "github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/servo"
)

// maxTraffic bounds what is kept of one line, bytes and requests; the oldest requests go first.
const (
	maxTraffic   = 4 << 20
	maxExchanges = 1 << 16
)

// Exchange is one request on a line and what came until the next one.
type Exchange struct {
	Op     string        `json:"op,omitempty"`      // open, rate or tx (of I2C and SPI); "" = write
	At     time.Duration `json:"at_ns,omitempty"`   // the line's clock
	Baud   int           `json:"baud,omitempty"`    // bit/s of a serial line
	Even   bool          `json:"even,omitempty"`    // parity
	Addr   uint16        `json:"address,omitempty"` // of tx
	Want   int           `json:"want,omitempty"`    // bytes that a tx reads
	Send   hexData       `json:"send,omitempty"`
	Answer []Piece       `json:"answer,omitempty"`
	Fault  *Fault        `json:"fault,omitempty"` // of the request itself
}

// Piece is bytes that came together, or the end of the line by an error.
type Piece struct {
	After time.Duration `json:"after_ns"`        // since the request
	Waits int           `json:"waits,omitempty"` // reads before it that timed out
	Data  hexData       `json:"data,omitempty"`
	Fault *Fault        `json:"fault,omitempty"`
}

// maxAfter bounds how late an answer can be.
const maxAfter = time.Hour

// The requests that are no write.
const (
	opOpen = "open"
	opRate = "rate"
	opTx   = "tx"
)

// key is what a request is matched by: all that the device sees of it.
func (e *Exchange) key() string {
	if e.Op == opOpen {
		return opOpen
	}
	return fmt.Sprint(e.Op, " ", e.Baud, e.Even, e.Addr, e.Want, " ", string(e.Send))
}

func (e *Exchange) size() (n int) {
	for _, p := range e.Answer {
		n += len(p.Data)
	}
	return n + len(e.Send)
}

// Traffic keeps what the lines of a plan carry, by bus and kind of body.
type Traffic struct {
	mu    sync.Mutex
	buses map[string]*track
}

// track is the traffic of one line.
type track struct {
	of      *Traffic
	list    []Exchange
	size    int
	dropped int
	met     doctor.RecordedBus
}

// NewTraffic lets the lines of p be kept from now on. Set it before anything of p is opened.
func NewTraffic(p *plan.Plan) *Traffic {
	t := &Traffic{buses: map[string]*track{}}
	p.Tap = func(bus string, kind configs.BodyKind, open servo.Opener) servo.Opener {
		k := t.of(bus, kind)
		port := p.Config.Buses[bus].Port
		return func() (servo.Line, error) { return k.open(port, open) }
	}
	p.TapBus = func(bus string, kind configs.BodyKind, open func() (i2c.Bus, error)) (i2c.Bus, error) {
		k := t.of(bus, kind)
		b, err := open()
		k.add(Exchange{Op: opOpen, Fault: faultOf(err)})
		if err != nil {
			return nil, err
		}
		return &keptBus{b, k}, nil
	}
	return t
}

func (t *Traffic) of(bus string, kind configs.BodyKind) *track {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := doctor.Bodied(bus, kind)
	if t.buses[name] == nil {
		t.buses[name] = &track{of: t}
	}
	return t.buses[name]
}

func (k *track) open(port string, open servo.Opener) (servo.Line, error) {
	line, err := open()
	e := Exchange{Op: opOpen, Fault: faultOf(err)}
	if err != nil {
		k.add(e)
		return nil, err
	}
	e.Baud, e.At = line.Baud(), line.Now()
	k.add(e)
	k.of.mu.Lock()
	_, timed := line.(catalog.Timed)
	k.met = doctor.RecordedBus{Opened: true, Timed: timed, Latency: catalog.LatencyOf(port, line),
		Terminal: catalog.IsTerminal(port)}
	k.of.mu.Unlock()
	kept := keptLine{Line: line, track: k, at: line.Now()}
	if timed, ok := line.(catalog.Timed); ok {
		return &timedLine{kept, timed}, nil
	}
	return &kept, nil
}

// add begins a request.
func (k *track) add(e Exchange) {
	k.of.mu.Lock()
	defer k.of.mu.Unlock()
	e.Send = bytes.Clone(e.Send)
	k.list = append(k.list, e)
	k.size += e.size()
	for len(k.list) > 1 && (k.size > maxTraffic || len(k.list) > maxExchanges) {
		k.size -= k.list[0].size()
		k.list[0] = Exchange{}
		k.list = k.list[1:]
		k.dropped++
	}
}

// answer adds what came to the last request. A stream without an end keeps its beginning.
func (k *track) answer(p Piece) {
	k.of.mu.Lock()
	defer k.of.mu.Unlock()
	if len(k.list) == 0 || k.size+len(p.Data) > maxTraffic {
		k.dropped++
		return
	}
	p.Data = bytes.Clone(p.Data)
	last := &k.list[len(k.list)-1]
	last.Answer = append(last.Answer, p)
	k.size += len(p.Data)
}

// keptLine is a line whose requests and answers are kept.
type keptLine struct {
	servo.Line
	*track
	at    time.Duration // of the last request
	waits int           // reads since the last piece that timed out
	even  bool
}

// timedLine is one of an adapter with a latency timer.
type timedLine struct {
	keptLine
	catalog.Timed
}

func (l *keptLine) Write(p []byte) (int, error) {
	l.at, l.waits = l.Line.Now(), 0
	n, err := l.Line.Write(p)
	l.add(Exchange{At: l.at, Baud: l.Line.Baud(), Even: l.even, Send: p, Fault: faultOf(err)})
	return n, err
}

func (l *keptLine) Read(p []byte, timeout time.Duration) (int, error) {
	n, err := l.Line.Read(p, timeout)
	quiet := errors.Is(err, os.ErrDeadlineExceeded)
	if n > 0 || err != nil && !quiet {
		piece := Piece{After: l.Line.Now() - l.at, Waits: l.waits, Data: p[:n]}
		l.waits = 0
		if !quiet {
			piece.Fault = faultOf(err)
		}
		l.answer(piece)
	} else {
		l.waits++
	}
	return n, err
}

func (l *keptLine) SetBaud(baud int) error {
	err := l.Line.SetBaud(baud)
	if err != nil {
		l.add(Exchange{Op: opRate, Baud: baud, Fault: faultOf(err)})
	}
	return err
}

// SetEven is the line's, where it has a parity.
func (l *keptLine) SetEven(even bool) error {
	l.even = even
	if line, ok := l.Line.(interface{ SetEven(bool) error }); ok {
		return line.SetEven(even)
	}
	return nil
}

// SetDTR is the line's, where it has one.
func (l *keptLine) SetDTR(on bool) error {
	if line, ok := l.Line.(interface{ SetDTR(bool) error }); ok {
		return line.SetDTR(on)
	}
	return nil
}

// keptBus is an I2C bus, or an SPI port, whose transactions are kept.
type keptBus struct {
	i2c.Bus
	*track
}

func (b *keptBus) Tx(addr uint16, w, r []byte) error {
	err := b.Bus.Tx(addr, w, r)
	e := Exchange{Op: opTx, Addr: addr, Want: len(r), Send: w, Fault: faultOf(err)}
	if err == nil && len(r) > 0 {
		e.Answer = []Piece{{Data: bytes.Clone(r)}}
	}
	b.add(e)
	return err
}

// OnSPI implements the interface that i2c.OnSPI asks for.
func (b *keptBus) OnSPI() bool { return halyardi2c.OnSPI(b.Bus) }

var _ i2c.Bus = (*keptBus)(nil)

// SetSpeed is periph's.
func (b *keptBus) SetSpeed(f physic.Frequency) error { return b.Bus.SetSpeed(f) }

// hexData is bytes, in JSON as hexadecimal digits.
type hexData []byte

// MarshalText implements encoding.TextMarshaler.
func (h hexData) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *hexData) UnmarshalText(text []byte) (err error) {
	*h, err = hex.AppendDecode(nil, text)
	return err
}

// Fault is an error of a line, on which drivers decide when it is replayed as they did on the first one.
type Fault struct {
	Kind string `json:"kind"` // of package hal, or one of sentinels
	Bus  string `json:"bus,omitempty"`
	Op   string `json:"op,omitempty"`
	Text string `json:"text,omitempty"`
	Try  string `json:"try,omitempty"`
}

// sentinels are the errors of lines by which drivers and findings decide.
func sentinels() map[string]error {
	return map[string]error{"silent": os.ErrDeadlineExceeded, "disconnected": servo.ErrDisconnected,
		"smbus only": halyardi2c.ErrSMBusOnly, "held low": halyardi2c.ErrHeldLow}
}

// faultOf is err as it is written, nil for nil.
func faultOf(err error) *Fault {
	if err == nil {
		return nil
	}
	f := &Fault{Kind: hal.KindOf(err).String(), Text: err.Error()}
	if known := (*hal.Error)(nil); errors.As(err, &known) {
		f.Bus, f.Op, f.Try = known.Bus, known.Op, known.Try
		if known.Err != nil {
			f.Text = known.Err.Error()
		}
	}
	for name, s := range sentinels() {
		if errors.Is(err, s) {
			f.Kind = name
		}
	}
	return f
}

// err is the error that f was written for.
func (f *Fault) err() error {
	if f == nil {
		return nil
	}
	if s := sentinels()[f.Kind]; s != nil {
		return &quoted{f.Text, s}
	}
	for k := hal.Unexpected + 1; k <= hal.Timeout; k++ {
		if k.String() == f.Kind {
			return &hal.Error{Kind: k, Bus: f.Bus, Op: f.Op, Err: errors.New(f.Text), Try: f.Try}
		}
	}
	return errors.New(f.Text)
}

// quoted is a sentinel in the words in which it was written.
type quoted struct {
	text string
	of   error
}

func (q *quoted) Error() string { return q.text }
func (q *quoted) Unwrap() error { return q.of }
