package emulator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/emulator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// tty is a client's end: a servo.Line on a terminal, as small as it can be.
type tty struct {
	*os.File
	began time.Time
	baud  int
}

func openTTY(t testing.TB, path string, baud int) *tty {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	l := &tty{File: f, began: time.Now()}
	if err := l.SetBaud(baud); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func (l *tty) SetBaud(baud int) error {
	raw, err := l.SyscallConn()
	if err != nil {
		return err
	}
	l.baud = baud
	return errors.Join(err, raw.Control(func(fd uintptr) {
		tio, e := unix.IoctlGetTermios(int(fd), unix.TCGETS2)
		if err = e; e == nil {
			tio.Cflag = tio.Cflag&^unix.CBAUD | unix.BOTHER
			tio.Ispeed, tio.Ospeed = uint32(baud), uint32(baud)
			err = unix.IoctlSetTermios(int(fd), unix.TCSETS2, tio)
		}
	}), err)
}

func (l *tty) Read(p []byte, timeout time.Duration) (int, error) {
	l.SetReadDeadline(time.Now().Add(timeout))
	return l.File.Read(p)
}

func (l *tty) Discard() error {
	var b [256]byte
	for {
		if n, err := l.Read(b[:], 0); n == 0 || err != nil {
			return nil
		}
	}
}
func (l *tty) Now() time.Duration { return time.Since(l.began) }
func (l *tty) Baud() int          { return l.baud }

// served is a bus on a pty behind a link, until the test ends.
func served(t testing.TB, mu *sync.Mutex, servos ...*emulator.Servo) (b *emulator.Bus, link string, stop func()) {
	t.Helper()
	b = emulator.NewBus(emulator.BusConfig{Name: "bench", Baud: 1000000, Mutex: mu,
		Timing: emulator.Timing{Reply: emulator.DefaultReply}}, servos...)
	link = filepath.Join(t.TempDir(), "bench")
	ctx, cancel := context.WithCancel(context.Background())
	path, wait, err := b.ServePTY(ctx, link)
	if err != nil {
		cancel()
		t.Skipf("no pseudo terminals here: %v", err)
	}
	if to, err := os.Readlink(link); err != nil || to != path {
		t.Errorf("link: got %q, %v, want %q", to, err, path)
	}
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := wait(); err != nil {
				t.Errorf("wait: %v", err)
			}
			if _, err := os.Lstat(link); !os.IsNotExist(err) {
				t.Errorf("the link outlived the bus: %v", err)
			}
		})
	}
	t.Cleanup(stop)
	return b, link, stop
}

func TestStockSDKOnAPTY(t *testing.T) {
	_, link, _ := served(t, nil, three(t)...)
	for range 2 { // one client after another
		port := openTTY(t, link, 1000000)
		session(t, port, ptyTimeout)
		port.Close()
		// The servos keep their state: torque off again, so that the next session finds them as the first did.
		port = openTTY(t, link, 1000000)
		s := &sdk{port, 0xFC, ptyTimeout}
		for id := byte(1); id <= 3; id++ {
			if _, _, err := s.ask(id, 3, 64, 0, 0); err != nil {
				t.Fatal(err)
			}
		}
		port.Close()
	}
}

func TestPTYIsPacedAndFeelsTheRate(t *testing.T) {
	_, link, _ := served(t, nil, newServo(t, "xm430-w350", 1, "baud_rate", 1))
	port := openTTY(t, link, 9600)
	s := &sdk{port, 0xFC, sdkTimeout}
	if _, _, err := s.ask(1, 1); err == nil {
		t.Error("answers at the wrong rate")
	}
	// The bus was set to 1 Mbaud when it was made.
	port.SetBaud(1000000)
	s.wait = ptyTimeout
	if _, _, err := s.ask(1, 1); err != nil {
		t.Fatalf("1 Mbaud: %v", err)
	}
	if e, _, err := s.ask(1, 3, 8, 0, 0); err != nil || e != 0 { // 9600 baud from now on
		t.Fatalf("baud rate: got %d, %v", e, err)
	}
	s.wait = sdkTimeout
	if _, _, err := s.ask(1, 1); err == nil {
		t.Error("answers at the rate that it left")
	}
	s.wait = ptyTimeout
	port.SetBaud(9600)
	start := time.Now()
	if _, _, err := s.ask(1, 1); err != nil {
		t.Fatalf("9600 baud: %v", err)
	}
	if took, least := time.Since(start), 25*time.Millisecond; took < least { // 24 bytes
		t.Errorf("24 bytes at 9600 baud took %v, want %v", took, least)
	}
}

func TestUnpluggedPTYComesBackBehindItsLink(t *testing.T) {
	b, link, _ := served(t, nil, newServo(t, "xm430-w350", 1))
	port := openTTY(t, link, 1000000)
	x, _ := wire.Parse("unplug bus for=30ms")
	if err := b.Fault(x); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := port.Read(make([]byte, 1), time.Second); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			break // hung up
		} else if err != nil {
			t.Fatal("the client does not notice")
		}
	}
	port.Close()
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		if f, err := os.OpenFile(link, os.O_RDWR|unix.O_NOCTTY, 0); err == nil {
			f.Close()
			s := &sdk{openTTY(t, link, 1000000), 0xFC, ptyTimeout}
			if _, _, err := s.ask(1, 1); err != nil {
				t.Errorf("after it is back: %v", err)
			}
			return
		}
	}
	t.Error("the link never came back")
}

func TestALinkReplacesNothingButALink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := emulator.NewBus(emulator.BusConfig{Name: "bench", Baud: 1000000}, newServo(t, "ax-12a", 1))
	if _, _, err := b.ServePTY(context.Background(), path); err == nil {
		t.Error("a file was taken for a link")
	}
	if got, _ := os.ReadFile(path); string(got) != "mine" {
		t.Errorf("the file is now %q", got)
	}
}

// The chain over a real terminal while the physics runs concurrently.
func TestChainOnAPTY(t *testing.T) {
	var mu sync.Mutex
	servos := three(t)
	_, link, stop := served(t, &mu, servos...)
	// The machine may be busy: what the adapter may hold back is what the scheduler does.
	cfg := servo.ChainConfig{Name: "bench", Line: openTTY(t, link, 1000000), Latency: 100 * time.Millisecond}
	for id := byte(1); id <= 3; id++ {
		cfg.Servos = append(cfg.Servos, servo.ServoConfig{ID: id, Model: dynamixel.ModelByName(servos[0].Name())})
	}
	chain := dynamixel.NewChain(cfg)
	if err := chain.Open(); err != nil {
		t.Fatal(err)
	}
	const goal = 2300
	ok := false
	for n := 0; n < 400 && !ok; n++ {
		for i := range servos {
			chain.SetGoal(i, servo.Goal{Enable: true, Mode: hal.PositionMode, Position: goal, Limit: 1})
		}
		if err := chain.Send(); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		for range 10 {
			for _, s := range servos {
				s.Actuator().Step(0.001)
			}
		}
		mu.Unlock()
		if err := chain.Receive(); err != nil {
			t.Fatal(err)
		}
		ok = true
		for i := range servos {
			st := chain.State(i)
			ok = ok && st.Err == nil && math.Abs(st.Position-goal) < 20
		}
	}
	if !ok {
		t.Errorf("got %+v, want all at %d", chain.State(0), goal)
	}
	for i, err := range chain.Halt() {
		if err != nil {
			t.Errorf("halt %d: %v", i+1, err)
		}
	}
	stop()
}

// pings is how long each of n pings of a servo on a terminal takes at a return delay, and how long on a wire: the
// request, the return delay, the processing, the answer.
func pings(t testing.TB, model string, delay int64, n int) (wire time.Duration, took []time.Duration) {
	t.Helper()
	s := newServo(t, model, 1)
	s.Preset("return_delay", delay)
	_, link, stop := served(t, nil, s)
	defer stop()
	port := openTTY(t, link, 1000000)
	defer port.Close()
	ping := dynamixel.AppendInstruction2(nil, &dynamixel.Instruction{ID: 1, Op: dynamixel.Ping})
	const answer = 14
	var buf [64]byte
	for range n {
		start := time.Now()
		if _, err := port.Write(ping); err != nil {
			t.Fatal(err)
		}
		for n := 0; n < answer; {
			k, err := port.Read(buf[n:], time.Second)
			if err != nil {
				t.Fatal(err)
			}
			n += k
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return servo.WireTime(len(ping)+answer, 10, 1000000) + time.Duration(delay)*2*time.Microsecond +
		emulator.DefaultReply, took
}

// A ping on a terminal is answered when the wire would, and at most a tenth of a millisecond later.
// What is judged is the quickest of many, since a busy machine delays any of them.
func TestPTYAnswersWhenTheWireWould(t *testing.T) {
	for _, delay := range []int64{0, 125, 250} {
		wire, took := pings(t, "xm430-w350", delay, 60)
		if took[0] < wire {
			t.Errorf("return delay %d: answered after %v, want %v or more", delay, took[0], wire)
		}
		late := took[0] - wire
		t.Logf("return delay %d: the wire %v, at best %v later", delay, wire, late)
		if late > 150*time.Microsecond {
			t.Errorf("return delay %d: %v late, want 0.15 ms", delay, late)
		}
	}
}

// BenchmarkPing is the ping time of an XL430 on a terminal: wire-µs is the wire's, late-µs what the median is later,
// and late90-µs what nine of ten stay below. ns/op means nothing here.
func BenchmarkPing(b *testing.B) {
	for _, delay := range []int64{0, 125, 250} {
		b.Run(fmt.Sprintf("return_delay=%d", delay), func(b *testing.B) {
			wire, took := pings(b, "xl430-w250", delay, b.N)
			us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
			b.ReportMetric(us(wire), "wire-µs")
			b.ReportMetric(us(took[len(took)/2]-wire), "late-µs")
			b.ReportMetric(us(took[len(took)*9/10]-wire), "late90-µs")
		})
	}
}
