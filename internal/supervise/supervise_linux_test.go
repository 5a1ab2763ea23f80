package supervise

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/pty"
	"github.com/halyard-robotics/halyard/internal/rigtest"
)

const role = "HALYARD_SUPERVISE_TEST"

// TestMain is also the main process and the supervisor of the tests.
func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "supervisor":
		if err := Run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// A robot's process: it opens its line, and says a byte each cycle, until it dies as it is told.
	line, err := os.OpenFile(os.Getenv("LINE"), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		panic(err)
	}
	way := os.Getenv(role)
	os.Setenv(role, "supervisor")
	s, err := Start(context.Background(), []string{os.Args[0]}, MinTimeout, []Line{{File: line, TorqueOff: torqueOff}})
	if err != nil {
		panic(err)
	}
	for k := range 100000 {
		s.Beat()
		time.Sleep(10 * time.Millisecond)
		if k == 5 {
			fmt.Println(s.child.Process.Pid)
		}
		if k < 20 {
			continue
		}
		switch way {
		case "panic":
			panic("a bug")
		case "deadlock":
			select {}
		case "out of memory":
			syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: 1 << 20, Max: 1 << 20})
			for hog := []byte{1}; ; hog = append(hog, hog...) {
			}
		case "order":
			s.Close()
			os.Exit(0)
		}
	}
}

var torqueOff = []byte{0xFF, 0xFF, 0xFE, 0x04, 0x03, 0x28, 0x00, 0xD2} // Feetech: all, write torque_enable 0

// TestSafety18Times: the first telegram goes out when the timeout after the last beat has passed, or at once where the
// main process is gone; the next every 20 ms, for Repeat.
func TestSafety18Times(t *testing.T) {
	for name, quiet := range map[string]time.Duration{"hangs": MinTimeout, "dies": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				beats, main := net.Pipe()
				silent := make(chan time.Time, 1)
				go func() {
					for range 20 {
						time.Sleep(10 * time.Millisecond)
						main.Write([]byte{beat})
					}
					if silent <- time.Now(); quiet == 0 {
						main.Close()
					}
				}()
				if ordered, err := watch(beats, func(byte) {}, MinTimeout, time.Now, nil); ordered || err != nil {
					t.Fatalf("got ordered %v, %v, want a hang", ordered, err)
				}
				last := <-silent
				var sent []time.Duration
				writeTelegrams([][][]byte{{torqueOff}}, func(int, []byte) error {
					sent = append(sent, time.Since(last)-quiet)
					return nil
				})
				for k, at := range sent {
					if at != time.Duration(k)*again {
						t.Fatalf("telegram %d: got it %v after the timeout, want %v", k, at, time.Duration(k)*again)
					}
				}
				if end := time.Since(last) - quiet; len(sent) != int(Repeat/again) || end != Repeat {
					t.Errorf("got %d telegrams, the end after %v, want %d and %v", len(sent), end, Repeat/again, Repeat)
				}
			})
		})
	}
}

// TestSafety18Supervisor: regardless of how its process dies, a line gets torque off within 200 ms of the last beat,
// again and again, and the supervisor ends by itself. One that ends in order leaves the line alone. The time in which
// this machine ran others does not count, and the best of some trials does; what is on the line must be right in each.
func TestSafety18Supervisor(t *testing.T) {
	const trials = 20
	for _, way := range []string{"kill -9", "SIGSTOP", "panic", "deadlock", "out of memory", "order"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				got, first, ended := die(t, way)
				t.Logf("torque off after %v, the supervisor ended after %v", first.Round(time.Millisecond),
					ended.Round(100*time.Millisecond))
				if way == "order" {
					if len(got) > 0 {
						t.Errorf("ended in order: got % x, want the line left alone", got)
					}
				} else if n := bytes.Count(got, torqueOff); n < 10 || len(got) != n*len(torqueOff) {
					t.Errorf("got %d telegrams in %d bytes, want many and nothing else", n, len(got))
				}
				if t.Failed() || first <= 200*time.Millisecond && ended <= 3*time.Second {
					return
				}
				if n == trials {
					t.Fatalf("torque off after %v, ended after %v in the last of %d trials, want at most 200 ms and 3 s",
						first, ended, n)
				}
			}
		})
	}
}

// die lets a process with a line die in one way. It returns what came over the line, when that began, and when the
// supervisor had ended, since the death, less the time in which both of them waited for a processor.
func die(t *testing.T, way string) (got []byte, first, ended time.Duration) {
	p, err := pty.Open(1000000)
	if err != nil {
		t.Skip(err)
	}
	defer p.Close()
	main := exec.Command(os.Args[0])
	main.Env = append(os.Environ(), role+"="+way, "LINE="+p.Path)
	out, err := main.StdoutPipe()
	if err == nil {
		err = main.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { main.Process.Kill(); main.Wait() }()
	var supervisor int
	if _, err := fmt.Fscan(out, &supervisor); err != nil {
		t.Fatal(err)
	}
	begin, watch := time.Now(), rigtest.NewStopwatch(supervisor)
	late := time.Duration(0)
	switch way {
	case "kill -9":
		main.Process.Kill()
	case "SIGSTOP":
		main.Process.Signal(syscall.SIGSTOP)
	default:
		late = 150 * time.Millisecond // it dies by itself, after its word
	}
	for b := make([]byte, 256); time.Since(begin) < Repeat+late+time.Second; {
		n, err := p.Read(b, time.Now().Add(50*time.Millisecond))
		if n > 0 && first == 0 {
			first = watch.Time() - late
		}
		if got = append(got, b[:n]...); ended == 0 && !alive(supervisor) {
			ended = watch.Time() - late
		}
		if n == 0 && ended > 0 || err != nil && n > 0 {
			break
		}
	}
	for ended == 0 && time.Since(begin) < time.Minute {
		if <-time.After(10 * time.Millisecond); !alive(supervisor) {
			ended = watch.Time() - late
		}
	}
	if ended == 0 {
		t.Fatal("the supervisor does not end")
	}
	return got, first, ended
}

// alive reports whether a process runs: it exists and is not a zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

// TestCloseOfAStoppedSupervisor: a supervisor that does not read does not keep the end of the main process waiting,
// also when its pipe is full.
func TestCloseOfAStoppedSupervisor(t *testing.T) {
	line, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	t.Setenv(role, "supervisor")
	s, err := Start(context.Background(), []string{os.Args[0]}, MinTimeout, []Line{{File: line, TorqueOff: torqueOff}})
	if err != nil {
		t.Fatal(err)
	}
	s.child.Process.Signal(syscall.SIGSTOP)
	for range 1 << 17 { // more than a pipe has room for
		if err := s.Beat(); errors.Is(err, ErrEnded) {
			t.Fatal(err)
		}
	}
	closed := make(chan struct{})
	go func() { s.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		s.child.Process.Kill()
		t.Error("Close does not return")
	}
}

// watched is a supervisor of no line, and the main process's clock.
func watched(t *testing.T) (s *Supervisor, now *time.Duration) {
	t.Helper()
	line, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	t.Setenv(role, "supervisor")
	if s, err = Start(t.Context(), []string{os.Args[0]}, MaxTimeout,
		[]Line{{File: line, TorqueOff: torqueOff}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	now = new(time.Duration)
	s.now = func() time.Duration { return *now }
	return s, now
}

// answered waits until the supervisor has answered the last beat.
func answered(t *testing.T, s *Supervisor) {
	t.Helper()
	if err := s.Beat(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); s.asked; <-time.After(time.Millisecond) {
		if err := s.Check(); err != nil || time.Now().After(end) {
			t.Fatalf("answer: %v", err)
		}
	}
}

// TestSilentSupervisor: a supervisor that is stopped is found out after AnswerTimeout of beats, not earlier; a time in
// which the main process itself did not run counts as no more than the supervisor's timeout, and is reported. Kill ends
// a stopped supervisor.
func TestSilentSupervisor(t *testing.T) {
	const period = 10 * time.Millisecond
	s, now := watched(t)
	answered(t, s)
	s.child.Process.Signal(syscall.SIGSTOP)
	for quiet := 0; quiet < 5; quiet++ { // what it wrote before
		if s.Check(); s.heard {
			quiet = 0
		}
		<-time.After(10 * time.Millisecond)
	}
	*now += MaxTimeout - period // no beat is unanswered
	if err := s.Check(); err != nil {
		t.Errorf("without a beat: %v", err)
	}
	for k := range AnswerTimeout / period {
		if err := s.Beat(); err != nil {
			t.Fatalf("after %v: %v", k*period, err)
		}
		*now += period
	}
	if err := s.Beat(); err != ErrSilent {
		t.Errorf("after %v: got %v, want %v", AnswerTimeout, err, ErrSilent)
	}
	s.silent = 0
	*now += time.Hour
	if err := s.Beat(); err != ErrFroze {
		t.Errorf("an hour without a cycle: got %v, want %v", err, ErrFroze)
	}
	if err := s.Beat(); err != nil {
		t.Errorf("the hour was counted: got %v", err)
	}
	killed := make(chan struct{})
	go func() { s.Kill(); close(killed) }()
	select {
	case <-killed:
	case <-time.After(time.Minute):
		t.Fatal("Kill does not return")
	}
	if err := s.Check(); err != ErrEnded {
		t.Errorf("killed: got %v, want %v", err, ErrEnded)
	}
}

// TestStarvedSupervisor: a supervisor that is ready to run and does not get to it guards on, up to twice AnswerTimeout,
// also where all of it is one wait, which the system counts when it is over.
func TestStarvedSupervisor(t *testing.T) {
	t.Run("many", func(t *testing.T) { starvedSupervisor(t, 1) })
	t.Run("one", func(t *testing.T) { starvedSupervisor(t, 0) })
}

func starvedSupervisor(t *testing.T, counted int) {
	const period = 10 * time.Millisecond
	s, now := watched(t)
	answered(t, s)
	s.child.Process.Signal(syscall.SIGSTOP)
	for quiet := 0; quiet < 5; quiet++ { // what it wrote before
		if s.Check(); s.heard {
			quiet = 0
		}
		<-time.After(10 * time.Millisecond)
	}
	looked := *now
	s.waited = func() (time.Duration, bool) {
		passed := *now - looked
		looked = *now
		return time.Duration(counted) * passed, true
	}
	begin := *now
	for s.Beat() == nil {
		*now += period
	}
	if got := *now - begin; got < 2*AnswerTimeout || got > 2*AnswerTimeout+period {
		t.Errorf("got silence after %v, want %v", got, 2*AnswerTimeout)
	}
	s.Kill()
}

// TestFrozenMain: a main process that did not run for the timeout learns it before it commands anything.
func TestFrozenMain(t *testing.T) {
	s, now := watched(t)
	answered(t, s)
	if *now += MaxTimeout - time.Millisecond; s.Check() != nil {
		t.Error("less than the timeout")
	}
	*now += MaxTimeout
	if err := s.Check(); err != ErrFroze {
		t.Errorf("got %v, want %v", err, ErrFroze)
	}
	if n := testing.AllocsPerRun(100, func() { s.Beat() }); n != 0 {
		t.Errorf("a beat: got %v allocations, want 0", n)
	}
}

// TestStartWithoutAnswer: a command that is no supervisor ends the start with an error, and so does the end of the
// context.
func TestStartWithoutAnswer(t *testing.T) {
	if _, err := Start(t.Context(), []string{"/bin/true"}, MinTimeout, nil); err == nil {
		t.Error("a command that ends: got nil")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, []string{"/bin/sleep", "100"}, MinTimeout, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("no answer: got %v, want canceled", err)
	}
}

// TestLateSupervisor: a supervisor that was stopped itself counts that time as no silence of the main process, which
// beats on when both wake up.
func TestLateSupervisor(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	clock := time.Now()
	beats := &sleepy{File: read, wakes: []func(){
		func() { clock = clock.Add(time.Millisecond); write.Write([]byte{beat}) },
		func() { clock = clock.Add(10 * time.Second) },                                // both were stopped
		func() { clock = clock.Add(5 * time.Millisecond); write.Write([]byte{beat}) }, // the main process beats on
		func() { clock = clock.Add(MinTimeout + time.Millisecond) },                   // a hang
		func() { t.Error("a hang was excused") },
	}}
	if ordered, err := watch(beats, func(byte) {}, MinTimeout, func() time.Time { return clock }, nil); ordered ||
		err != nil ||
		len(beats.wakes) != 1 {
		t.Errorf("got ordered %v, %v, %d wake-ups left, want a hang at the fourth", ordered, err, len(beats.wakes))
	}
}

// TestStarvedMain: a main process that was ready to run while others ran has not hung, up to twice the timeout; one
// that did not want to run has.
func TestStarvedMain(t *testing.T) {
	for _, c := range []struct {
		what  string
		waits bool
		want  time.Duration
	}{{"ready all the time", true, 2 * MinTimeout}, {"not ready", false, MinTimeout}} {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer read.Close()
		defer write.Close()
		clock := time.Now()
		begin, looked := clock, clock
		beats := &ticking{File: read, clock: &clock}
		write.Write([]byte{beat})
		waited := func() (time.Duration, bool) {
			if !c.waits {
				return 0, false
			}
			passed := clock.Sub(looked)
			looked = clock
			return passed, true
		}
		var answers []byte
		ordered, err := watch(beats, func(b byte) { answers = append(answers, b) }, MinTimeout,
			func() time.Time { return clock }, waited)
		if got := clock.Sub(begin); ordered || err != nil || got < c.want || got > c.want+Reserve/2 ||
			c.waits != bytes.Contains(answers, []byte{starving}) {
			t.Errorf("%s: got ordered %v, %v, after %v with answers %q, want a hang after %v", c.what, ordered, err,
				got,
				answers, c.want)
		}
	}
}

// ticking is a pipe whose deadlines pass at once, and take their time on clock.
type ticking struct {
	*os.File
	clock *time.Time
	due   time.Time
}

func (p *ticking) Read(b []byte) (int, error) {
	if p.due.IsZero() {
		return p.File.Read(b)
	}
	*p.clock = p.due
	return 0, os.ErrDeadlineExceeded
}

func (p *ticking) SetReadDeadline(t time.Time) error { p.due = t; return nil }

// sleepy is a pipe whose next read ends as wakes says: with what was written, or at its deadline.
type sleepy struct {
	*os.File
	wakes []func()
}

func (s *sleepy) Read(b []byte) (int, error) {
	s.wakes[0]()
	s.wakes = s.wakes[1:]
	s.File.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	return s.File.Read(b)
}

func (s *sleepy) SetReadDeadline(time.Time) error { return nil }
