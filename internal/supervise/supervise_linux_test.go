package supervise

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/sim/emulator/pty"
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
	s, err := Start([]string{os.Args[0]}, []Line{{File: line, TorqueOff: torqueOff}})
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

// TestSafety18Supervisor: regardless of how its process dies, a line gets torque off within 200 ms of the last beat, again and
// again, and the supervisor ends by itself. One that ends in order leaves the line alone. A busy machine may delay the process
// that measures, so the best of some trials counts; what is on the line must be right in each.
func TestSafety18Supervisor(t *testing.T) {
	const trials = 5
	for _, way := range []string{"kill -9", "SIGSTOP", "panic", "deadlock", "out of memory", "order"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				got, first, ended := die(t, way)
				t.Logf("torque off after %v, the supervisor ended after %v", first.Round(time.Millisecond), ended.Round(100*time.Millisecond))
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
					t.Fatalf("torque off after %v, ended after %v in the last of %d trials, want at most 200 ms and 3 s", first, ended, trials)
				}
			}
		})
	}
}

// die lets a process with a line die in one way. It returns what came over the line, when that began, and when the supervisor had
// ended, since the death.
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
	begin := time.Now()
	switch way {
	case "kill -9":
		main.Process.Kill()
	case "SIGSTOP":
		main.Process.Signal(syscall.SIGSTOP)
	default: // it dies by itself, 150 ms after its word
		begin = begin.Add(150 * time.Millisecond)
	}
	for b := make([]byte, 256); time.Since(begin) < Insist+time.Second; {
		n, err := p.Read(b, time.Now().Add(50*time.Millisecond))
		if n > 0 && first == 0 {
			first = time.Since(begin)
		}
		if got = append(got, b[:n]...); ended == 0 && !alive(supervisor) {
			ended = time.Since(begin)
		}
		if n == 0 && ended > 0 || err != nil && n > 0 {
			break
		}
	}
	for ended == 0 && time.Since(begin) < time.Minute {
		if <-time.After(10 * time.Millisecond); !alive(supervisor) {
			ended = time.Since(begin)
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

// TestCloseOfAStoppedSupervisor: a supervisor that does not read does not keep the end of the main process waiting, also when its
// pipe is full.
func TestCloseOfAStoppedSupervisor(t *testing.T) {
	line, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	t.Setenv(role, "supervisor")
	s, err := Start([]string{os.Args[0]}, []Line{{File: line, TorqueOff: torqueOff}})
	if err != nil {
		t.Fatal(err)
	}
	s.child.Process.Signal(syscall.SIGSTOP)
	for range 1 << 17 { // more than a pipe has room for
		if err := s.Beat(); err != nil {
			t.Fatal(err)
		}
	}
	closed := make(chan struct{})
	go func() { s.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(5 * time.Second):
		s.child.Process.Kill()
		t.Error("Close does not return")
	}
}
