package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/protocols/odcp"
	"github.com/halyard-robotics/halyard/sim/emulator/p2os"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// dieOnSignal lets this process end or hang at SIGUSR1.
func dieOnSignal(way string) {
	if way == "" || os.Args[1] != "serve" { // its supervisor
		return
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGUSR1)
	go func() {
		<-told
		switch way {
		case "panic":
			panic("a bug")
		case "deadlock":
			// Who lists all goroutines waits until none runs. One never pauses (GODEBUG=asyncpreemptoff=1), and all
			// others wait for the one that lists.
			go syscall.RawSyscall6(syscall.SYS_PSELECT6, 0, 0, 0, 0, 0, 0)
			<-time.After(5 * time.Millisecond)
			runtime.Stack(make([]byte, 64), true)
		case "out of memory":
			syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: 1 << 20, Max: 1 << 20})
			for hog := []byte{1}; ; hog = append(hog, hog...) {
			}
		}
	}()
}

// dyingPeriod is the cycle of the rig that dies: the last beat is no older at its death.
const dyingPeriod = 20 * time.Millisecond

// TestSafety18KilledServe: regardless of how serve dies, an arm and a base have stopped within 200 ms of its last
// cycle, and the supervisor ends within 3 s. The motors are emulated in this process: the time in which this machine
// ran other processes than it, serve and the supervisor does not count, and the best of some trials does; that they
// stop and stay stopped, in each. A trial in which the motors did not answer in time to be driven does not count.
func TestSafety18KilledServe(t *testing.T) {
	const trials, timeout = 20, 6 * time.Minute
	for _, way := range []string{"kill -9", "SIGSTOP", "panic", "deadlock", "out of memory", "kill -9 after a stop",
		"kill -9 after SIGSTOP"} {
		t.Run(way, func(t *testing.T) {
			latency := 20 * time.Millisecond
			for n, begin := 0, time.Now(); ; {
				arm, base, ended, err := diedServe(t, way, latency)
				if err == nil {
					n++
				} else { // it did not come to a drive: the motors get longer
					latency = min(2*latency, 160*time.Millisecond)
				}
				t.Logf("arm %v, base %v, supervisor ended %v, %v", arm.Round(time.Millisecond),
					base.Round(time.Millisecond), ended.Round(time.Millisecond), err)
				if t.Failed() || err == nil && max(arm, base)+dyingPeriod <= 200*time.Millisecond &&
					ended <= 3*time.Second {
					return
				}
				if n >= trials || time.Since(begin) > timeout {
					t.Fatalf("got the arm's torque off after %v, the base stopped after %v, the supervisor ended "+
						"after %v, %v in the last of %d trials; want 200 ms and 3 s",
						arm, base, ended, err, n)
				}
			}
		})
	}
}

// diedServe lets a serve that drives an arm and a base die. It returns when they stopped and when the supervisor ended,
// since then, less what they were starved. The error is why it did not come to that.
func diedServe(t *testing.T, way string, latency time.Duration) (arm, base, ended time.Duration, err error) {
	armPort, torque := emulatedArm(t)
	basePort, rolls := emulatedBase(t)
	name := "dying-" + strings.ReplaceAll(way, " ", "-")
	serve := exec.Command(os.Args[0], "serve", dyingRig(t, armPort, basePort), "--set", "name="+name, "--set",
		"clock.period="+dyingPeriod.String(), "--set", "buses.arm.latency="+latency.String(), "--dashboard", "off",
		"--listen", "osp=127.0.0.1:0", "--listen", "odcp=127.0.0.1:0", "--listen", "gamebots=127.0.0.1:0", "-o",
		"jsonl")
	serve.Env = append(os.Environ(), "HALYARD_TEST_COMMAND=1", "HALYARD_TEST_DEATH="+way, "GODEBUG=asyncpreemptoff=1")
	var stderr bytes.Buffer
	serve.Stderr = &stderr
	out, err := serve.StdoutPipe()
	if err == nil {
		err = serve.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	killed := sync.OnceFunc(func() { serve.Process.Kill(); serve.Wait() })
	defer killed()
	line, err := bufio.NewReader(out).ReadString('\n')
	r := &running{stderr: &strings.Builder{}}
	if err != nil || json.Unmarshal([]byte(line), &r.ready) != nil {
		killed()
		return 0, 0, 0, fmt.Errorf("serve: got %q, %v: %s", line, err, &stderr)
	}
	order := func(order string) {
		if code, _, errText := runApp(t, order, name); code != 0 && err == nil {
			err = fmt.Errorf("%v: exit %d: %s", order, code, errText)
		}
	}
	drive, client := dialDriver(t, r)
	defer client.Close()
	var supervisor []int
	moves := func() bool {
		for k := range 300 { // the base takes a second for its session
			// A base that joined meanwhile waits for the operator, and so does what a busy machine has stopped.
			if drive(); k%10 == 9 && !(torque() && rolls()) {
				runApp(t, "reset", name)
				runApp(t, "arm", name)
			}
			if supervisor = children(serve.Process.Pid); torque() && rolls() && len(supervisor) == 1 {
				return true
			}
			<-time.After(100 * time.Millisecond)
		}
		err = fmt.Errorf("before: torque %v, rolls %v, supervisors %v", torque(), rolls(), supervisor)
		return false
	}
	if order("arm"); err != nil || !moves() {
		return 0, 0, 0, err
	}
	first := supervisor[0]
	wakes := func() {
		for end := time.Now().Add(10 * time.Second); alive(first) && time.Now().Before(end); {
			<-time.After(10 * time.Millisecond)
		}
		serve.Process.Signal(syscall.SIGCONT)
		for range 200 {
			ans, err := control.Send(t.Context(), name, control.OrderStatus)
			if err == nil && ans.Rig.Stopped {
				return
			}
			if torque() || rolls() {
				break
			}
			<-time.After(50 * time.Millisecond)
		}
		t.Errorf("woken up: torque %v, rolls %v; want it stopped", torque(), rolls())
	}
	again := func() bool {
		order("reset")
		order("arm")
		return err == nil && moves()
	}
	switch way {
	case "kill -9 after a stop": // whose verification takes longer than the supervisor waits
		if order("estop"); !again() {
			return 0, 0, 0, err
		}
		if supervisor[0] != first {
			return 0, 0, 0, errors.New("a stop counted as a hang")
		}
	case "kill -9 after SIGSTOP":
		serve.Process.Signal(syscall.SIGSTOP)
		if wakes(); !again() {
			return 0, 0, 0, err
		}
	}
	how := syscall.SIGUSR1
	if way == "SIGSTOP" {
		how = syscall.SIGSTOP
	} else if strings.HasPrefix(way, "kill -9") {
		how = syscall.SIGKILL
	}
	begin, watch := time.Now(), rigtest.NewStopwatch(serve.Process.Pid, supervisor[0])
	serve.Process.Signal(how)
	for arm == 0 || base == 0 || ended == 0 {
		now := watch.Time()
		if time.Since(begin) > time.Minute {
			killed()
			t.Fatalf("after %v: arm stopped after %v, base after %v, supervisor ended after %v (0: not yet)", now, arm,
				base, ended)
		}
		if arm == 0 && !torque() {
			arm = now
		}
		if base == 0 && !rolls() {
			base = now
		}
		if ended == 0 && !alive(supervisor[0]) {
			ended = now
		}
		<-time.After(time.Millisecond)
	}
	if torque() || rolls() {
		t.Errorf("afterwards: got torque %v, rolling %v; want both stopped", torque(), rolls())
	}
	return arm, base, ended, nil
}

// dyingRig is an arm and a class of a Pioneer at those ports, whose commands persist.
func dyingRig(t *testing.T, arm, base string) string {
	t.Helper()
	path := realConfig(t, arm)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("body: sim ", "body: real ", "{on_timeout: hold}",
		"{on_timeout: hold, command_timeout: 1h}", "\nagents:\n", `
  base: {type: serial, port: `+base+`, baud: 9600}
classes:
  USARBot.P2AT:
    model: usarsim-p2at
    parts: {base: real}
    guard: {command_timeout: 1h}
    hardware: {base: {bus: base, device: p2os, robot: p2at}}
agents:
`).Replace(string(data)) + "  - {protocol: gamebots, listen: \"127.0.0.1:3000\"}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// dialDriver returns what commands both robots of r, and the client that holds the base.
func dialDriver(t *testing.T, r *running) (drive func(), client io.Closer) {
	t.Helper()
	joints, err := odcp.Open(r.address(t, "odcp"), odcp.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { joints.Close() })
	conn, err := net.Dial("tcp", r.address(t, "gamebots"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "INIT {ClassName USARBot.P2AT} {Name A} {Location 0,0,0}\r\n")
	go io.Copy(io.Discard, conn) // until it is closed
	return func() {
		joints.Set([]int32{512, 512, 512, 512, 512, 512}, []int32{1023, 1023, 1023, 1023, 1023, 1023})
		fmt.Fprintf(conn, "DRIVE {Left 3} {Right 3}\r\n")
	}, conn
}

// emulatedArm is an xm430-arm in this process: its port, and whether any of its servos has torque.
func emulatedArm(t *testing.T) (port string, torque func() bool) {
	t.Helper()
	c, err := halyard.Load("xm430-arm", halyard.Set("agents[0].body", "emulated"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := halyard.Emulate(c)
	if err != nil {
		t.Fatal(err)
	}
	ports, served := make(chan string, 1), make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		served <- e.Serve(ctx, "", func(p []halyard.Port) error { ports <- p[0].Path; return nil })
		close(served)
	}()
	t.Cleanup(func() { cancel(); <-served; e.Close() })
	select {
	case port = <-ports:
	case err := <-served:
		t.Skip(err)
	}
	return port, func() bool {
		for _, j := range e.Hand("look").(assembly.HandAnswer).Joints {
			if j.Torque {
				return true
			}
		}
		return false
	}
}

// emulatedBase is a Pioneer in this process: its port, and whether it drives its wheels.
func emulatedBase(t *testing.T) (port string, rolls func() bool) {
	t.Helper()
	robot, err := base.RobotOf("p2at")
	if err != nil {
		t.Fatal(err)
	}
	board := p2os.New(robot, "test", 9600, false, p2os.NewFloor(robot.Difference))
	line := wire.NewLine("base", 9600, 1, board)
	ctx, cancel := context.WithCancel(context.Background())
	port, wait, err := line.ServePTY(ctx, "")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { cancel(); wait() })
	return port, func() bool {
		line.Lock()
		defer line.Unlock()
		_, left, right := board.Motors()
		return left != 0 || right != 0
	}
}

// children are the processes that process pid has started and that run.
func children(pid int) (list []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range all {
		if state, parent := statOf(path); parent == pid && state != "Z" {
			if child, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				list = append(list, child)
			}
		}
	}
	return list
}

// alive reports whether a process runs: it is there, and has not ended.
func alive(pid int) bool {
	state, _ := statOf(fmt.Sprintf("/proc/%d/stat", pid))
	return state != "" && state != "Z"
}

// statOf is the state and the parent of a process, "" where it is gone.
func statOf(path string) (state string, parent int) {
	data, _ := os.ReadFile(path)
	if _, rest, ok := strings.Cut(string(data), ") "); ok {
		fmt.Sscan(rest, &state, &parent)
	}
	return state, parent
}

// TestRunWithoutSupervisor: where the supervisor cannot be started, Run moves nothing and returns an error, and Close
// ends the servers, which were never run.
func TestRunWithoutSupervisor(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	armPort, torque := emulatedArm(t)
	basePort, _ := emulatedBase(t)
	cfg, err := halyard.Load(dyingRig(t, armPort, basePort), halyard.Set("name", "unsupervised"),
		halyard.Set("buses.arm.latency", "20ms"),
		halyard.Listen("osp", "127.0.0.1:0"), halyard.Listen("odcp", "127.0.0.1:0"),
		halyard.Listen("gamebots", "127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	sys, err := halyard.Open(cfg, halyard.WithSupervisor(filepath.Join(t.TempDir(), "none")))
	if err != nil {
		t.Fatal(err)
	}
	servers, err := sys.Listen()
	if err != nil {
		t.Fatal(err)
	}
	if err := sys.Run(t.Context()); err == nil || torque() {
		t.Errorf("run: got %v, torque %v, want an error and no torque", err, torque())
	}
	if err := sys.Close(); err != nil {
		t.Error(err)
	}
	for _, s := range servers {
		if s.Protocol != "gamebots" { // the only one over TCP
			continue
		}
		if conn, err := net.Dial("tcp", s.Address); err == nil {
			conn.Close()
			t.Errorf("%s still listens at %s after Close", s.Protocol, s.Address)
		}
	}
}

// keepNumber keeps the number of the terminal at path, which this process has open, from any other one until the test
// ends, also after its device is gone. TIOCEXCL refuses a further open, so that it is a copy of an open file.
func keepNumber(t *testing.T, path string) {
	t.Helper()
	fds, _ := filepath.Glob("/proc/self/fd/*")
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && to == path {
			n, _ := strconv.Atoi(filepath.Base(fd))
			if n, err = syscall.Dup(n); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { syscall.Close(n) })
			return
		}
	}
	t.Fatalf("%s is not open here", path)
}
