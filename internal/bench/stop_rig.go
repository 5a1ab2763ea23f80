package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/emulator/pty"
	"github.com/halyard-robotics/halyard/internal/keys"
	"github.com/halyard-robotics/halyard/internal/must"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// stopRig is a rig that is stopped again and again, as a user would run it.
type stopRig struct {
	sys     *assembly.System
	lines   map[string]*stopLine
	begin   time.Time
	verify  atomic.Int64 // when a stop was verified last, ns since begin
	stopped chan struct{}

	triggers map[string]func() // by source

	mu     sync.Mutex
	inputs [][]float64 // of each agent
	silent atomic.Bool // no client commands
	last   time.Duration
	on, of int           // joints with torque, and all, after the last cycle
	off    time.Duration // when the last one lost its torque
	press  atomic.Bool
}

// stopLine is a line that counts its bytes.
type stopLine struct {
	servo.Line
	rig *stopRig
	cut []byte // the first telegram of a torque-off

	wire  atomic.Int64 // ns that the line was busy
	bytes atomic.Int64
	first atomic.Int64 // when cut was written last, ns since begin; 0 = not yet
	spent atomic.Int64 // wire, then
	learn bool
}

func (l *stopLine) Write(p []byte) (int, error) {
	if l.learn && l.cut == nil {
		l.cut = bytes.Clone(p)
	}
	if l.first.Load() == 0 && l.cut != nil && bytes.Equal(p, l.cut) {
		l.spent.Store(l.wire.Load())
		l.first.Store(int64(time.Since(l.rig.begin)))
	}
	before := l.Now()
	n, err := l.Line.Write(p)
	l.wire.Add(int64(l.Now() - before))
	l.bytes.Add(int64(n))
	return n, err
}

func (l *stopLine) Read(p []byte, timeout time.Duration) (int, error) {
	before := l.Now()
	n, err := l.Line.Read(p, timeout)
	l.wire.Add(int64(l.Now() - before))
	l.bytes.Add(int64(n))
	return n, err
}

// stopLog notes when a stop was verified: its log line follows at once.
type stopLog struct {
	slog.Handler
	rig *stopRig
}

func (h stopLog) Enabled(context.Context, slog.Level) bool { return true }
func (h stopLog) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h stopLog) WithGroup(string) slog.Handler            { return h }
func (h stopLog) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "emergency stop") { // or that it could not be verified
		h.rig.verify.Store(int64(time.Since(h.rig.begin)))
		select {
		case h.rig.stopped <- struct{}{}:
		default:
		}
	}
	return h.Handler.Handle(ctx, r)
}

// withStopRig runs f on a config, or on the robot of a load.
func withStopRig(ctx context.Context, name string, load stopLoad, f func(*stopRig) error) (err error) {
	defer must.Catch(&err)
	dir := must.Get(os.MkdirTemp("", "halyard-bench"))
	defer os.RemoveAll(dir)
	if name == "" {
		for file, text := range load.files() {
			must.Be(os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
		}
		name = filepath.Join(dir, "kit.yaml")
	}
	set := []string{"clock.mode=realtime", "name=bench-stop"}
	c := must.Get(configs.Load(name, configs.Options{Body: "emulated", Set: set}))
	for i := range c.Agents {
		set = append(set, fmt.Sprintf("agents[%d].guard.command_timeout=%v", i, stopDeadline),
			fmt.Sprintf("agents[%d].guard.on_timeout=torque_off", i), fmt.Sprintf("agents[%d].guard.armed=true", i))
	}
	set = append(set, fmt.Sprintf("servers=[{protocol: rosbridge, agent: %s, listen: \"127.0.0.1:0\"}]",
		c.Agents[0].Name))
	c = must.Get(configs.Load(name, configs.Options{Body: "emulated", Set: set}))
	p := must.Get(plan.Resolve(c, builtin.Catalog()))
	s := &stopRig{lines: map[string]*stopLine{}, begin: time.Now(), stopped: make(chan struct{}, 1),
		triggers: map[string]func(){}}
	p.Tap = s.tap
	var out io.Writer = io.Discard
	var sink hal.Sink
	if load.blocked {
		read, write := io.Pipe() // never read
		defer func() { read.Close(); sink.Flush(time.Second) }()
		out = write
	}
	log := slog.New(stopLog{sink.Handler(slog.NewTextHandler(out, nil)), s})
	s.sys = must.Get(assembly.Build(p, log))
	defer func() { err = errors.Join(err, s.sys.Close()) }()
	return s.run(ctx, load, f)
}

func (s *stopRig) tap(bus string, _ configs.BodyKind, open servo.Opener) servo.Opener {
	return func() (servo.Line, error) {
		line, err := open()
		if err != nil {
			return nil, err
		}
		l := &stopLine{Line: line, rig: s}
		s.lines[bus] = l // lines are opened one after another
		return l, nil
	}
}

// run lets the rig run, its servers and its sources of stops, while f measures.
func (s *stopRig) run(ctx context.Context, load stopLoad, f func(*stopRig) error) (err error) {
	defer must.Catch(&err)
	rig := s.sys.Rig
	servers := must.Get(assembly.OpenServers(s.sys))
	socket, err := control.OpenControl(rig, control.Hooks{})
	if err != nil {
		servers.Close()
		return err
	}
	defer socket.Close()
	for _, a := range rig.Agents() {
		s.inputs = append(s.inputs, holdPose(a.Layout()))
	}
	session := rig.NewSession("bench", s)
	defer session.Close()
	rig.AddStopInput(func() error {
		if s.press.Load() {
			return &hal.Error{Kind: hal.Unsafe, Op: "stop input", Err: errors.New("pressed")}
		}
		return nil
	})
	running, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	all.Go(func() { servers.Run(running, func() {}) })
	all.Go(func() { rig.Run(running) })
	all.Go(func() { s.command(running) })
	end := must.Get(s.sources(servers.Ready[0].Address))
	defer end()
	for range load.busy {
		busy := exec.CommandContext(running, "sh", "-c", "while :; do :; done")
		must.Be(busy.Start())
		defer busy.Wait()
		defer busy.Process.Kill()
	}
	for range load.connections {
		conn := must.Get(net.Dial("tcp", servers.Ready[0].Address))
		defer conn.Close()
	}
	if load.dead {
		fault, err := wire.Parse("power_loss bus")
		if err == nil {
			err = s.sys.Lines[0].Emu.Fault(fault)
		}
		if err != nil {
			return err
		}
	}
	return f(s)
}

// holdPose commands every joint to stay, in the first mode that it has.
func holdPose(l *hal.Layout) []float64 {
	inputs := hal.NewFrame(l).Inputs
	for i := range l.Actuators {
		a := &l.Actuators[i]
		if at := a.Goal[hal.PositionMode]; at != hal.None {
			inputs[at] = a.Default
		} else if at := a.Goal[hal.VelocityMode]; at != hal.None {
			inputs[at] = 0
		}
	}
	return inputs
}

// command is a client that repeats itself until ctx ends.
func (s *stopRig) command(ctx context.Context) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if s.silent.Load() {
			continue
		}
		s.mu.Lock()
		for i, a := range s.sys.Rig.Agents() {
			a.Override(s.inputs[i])
		}
		s.last = time.Since(s.begin)
		s.mu.Unlock()
	}
}

// Cycle implements hal.Observer: it counts the motors that have torque.
func (s *stopRig) Cycle(*hal.Cycle) {
	on, of := 0, 0
	for i := range s.sys.Lines {
		emu := s.sys.Lines[i].Emu
		emu.Lock() // a stop cuts the torque in its own goroutine
		for _, v := range emu.Servos() {
			if a := v.Actuator(); !v.Dark {
				if of++; a.Enable && a.Limit > 0 {
					on++
				}
			}
		}
		emu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if on == 0 && s.on > 0 {
		s.off = time.Since(s.begin)
	}
	s.on, s.of = on, of
}

// sources opens the sources of a stop. end closes them.
func (s *stopRig) sources(server string) (end func(), err error) {
	rig := s.sys.Rig
	var closers []func()
	end = func() {
		for _, c := range slices.Backward(closers) {
			c()
		}
	}
	defer func() {
		if err != nil {
			end()
		}
	}()
	ros, err := net.Dial("tcp", server)
	if err != nil {
		return end, err
	}
	closers = append(closers, func() { ros.Close() })
	fmt.Fprintf(ros, "GET / HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: "+
		"Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", server)
	if line, err := bufio.NewReader(ros).ReadString('\n'); err != nil || !strings.Contains(line, " 101 ") {
		return end, fmt.Errorf("rosbridge: got %q, %w", line, err)
	}
	var reading sync.WaitGroup
	reading.Go(func() { io.Copy(io.Discard, ros) })
	closers = append(closers, func() { ros.Close(); reading.Wait() })
	call := `{"op":"call_service","service":"/stop"}`
	// masked with 0
	s.triggers["protocol"] = func() { ros.Write(append([]byte{0x81, 0x80 | byte(len(call)), 0, 0, 0, 0}, call...)) }

	var orders sync.WaitGroup
	closers = append(closers, orders.Wait)
	s.triggers["control socket"] = func() {
		orders.Go(func() {
			conn, err := net.Dial("unix", control.ControlSocket(rig.Name()))
			if err != nil {
				return // no stop is seen
			}
			defer conn.Close()
			fmt.Fprintln(conn, control.OrderStop)
			io.Copy(io.Discard, conn)
		})
	}
	s.triggers["stop input"] = func() { s.press.Store(true) }
	s.triggers["deadline"] = func() { s.silent.Store(true) }

	terminal, err := pty.Open(9600)
	if err != nil {
		return end, err
	}
	closers = append(closers, func() { terminal.Close() })
	tty, err := os.OpenFile(terminal.Path, os.O_RDWR, 0)
	if err != nil {
		return end, err
	}
	watch, err := keys.Watch(tty, func(key byte) {
		if key == keys.Stop {
			rig.EmergencyStop("space was pressed")
		}
	}, func() {})
	if err != nil {
		return end, err
	}
	closers = append(closers, watch.Close)
	s.triggers["space"] = func() { terminal.Write([]byte{' '}) }
	closers = append(closers, s.processSources())
	return end, nil
}
