// Package serve_test drives robots that the authors of the old protocols never saw, by their clients.
package serve_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/player"
	"github.com/halyard-robotics/halyard/internal/serve/servetest"
	"github.com/halyard-robotics/halyard/protocols/odcp"
	"github.com/halyard-robotics/halyard/protocols/osp"
	"github.com/halyard-robotics/halyard/protocols/simloid"
)

// serve opens a config, serves it, and returns the addresses of its servers by protocol.
func serve(t *testing.T, text string, settings ...halyard.Setting) (*halyard.System, map[string]string) {
	t.Helper()
	cfg, err := halyard.Parse("robots", []byte(text), settings...)
	if err != nil {
		t.Fatal(err)
	}
	return open(t, cfg)
}

func open(t *testing.T, cfg *halyard.Config) (*halyard.System, map[string]string) {
	t.Helper()
	sys, servers := servetest.Serve(t, cfg)
	addresses := map[string]string{}
	for _, s := range servers {
		addresses[s.Protocol] = s.Address
	}
	return sys, addresses
}

// until waits until ok, which it asks for ever again.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute", what)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// TestPlayerMovesSO101: a client of Player moves the SO-101's elbow and wrist by its actarray.
func TestPlayerMovesSO101(t *testing.T) {
	for _, body := range []string{"sim", "emulated"} {
		sys, at := serve(t, fmt.Sprintf(`name: robots
clock: {mode: lockstep, period: 10ms}
buses: {arm: {type: feetech, port: /dev/arm, baud: 1000000}}
agents:
  - name: so101
    model: so101
    body: %s
    hardware:
      joints:
        shoulder_pan:  {bus: arm, id: 1, model: sts3215}
        shoulder_lift: {bus: arm, id: 2, model: sts3215}
        elbow_flex:    {bus: arm, id: 3, model: sts3215}
        wrist_flex:    {bus: arm, id: 4, model: sts3215}
        wrist_roll:    {bus: arm, id: 5, model: sts3215}
        gripper:       {bus: arm, id: 6, model: sts3215}
servers: [{protocol: player, agent: so101, listen: "127.0.0.1:0"}]
`, body))
		conn, err := net.Dial("tcp", at["player"])
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		go io.Copy(io.Discard, conn)
		elbow := func() float64 { return sys.Agent("so101").State("elbow_flex").Position }
		from := elbow()
		until(t, body+": the elbow goes by 0.4 rad", func() bool {
			goal := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 2),
				math.Float32bits(float32(from+0.4)))
			h := player.Header{Device: player.Device{Interface: player.ActArray}, Type: player.Cmd, Subtype: 1,
				Size: uint32(len(goal))}
			if _, err := conn.Write(append(h.Append(nil), goal...)); err != nil {
				t.Fatal(err)
			}
			return math.Abs(elbow()-from-0.4) < 0.05
		})
		t.Logf("%s: elbow_flex from %.3f to %.3f rad", body, from, elbow())
	}
}

// TestODCPMovesServos: a client of ODCP moves the motors of servo robots of four kinds of line, emulated.
func TestODCPMovesServos(t *testing.T) {
	for _, name := range []string{"so101", "koch", "lx16a-arm", "a-series"} {
		t.Run(name, func(t *testing.T) {
			cfg, err := halyard.Load(name, halyard.Set("agents[0].body", "emulated"),
				halyard.Set("clock.mode", "lockstep"),
				halyard.Listen("osp", "127.0.0.1:0"), halyard.Listen("odcp", "127.0.0.1:0"))
			if err != nil {
				t.Fatal(err)
			}
			_, at := open(t, cfg)
			c, err := odcp.Open(at["odcp"], odcp.ClientOptions{Timeout: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			from, err := c.Get()
			if err != nil {
				t.Fatal(err)
			}
			goal, torque := append([]int32(nil), from...), make([]int32, len(from))
			for i := range goal {
				torque[i] = odcp.Greatest
				if goal[i] += 40; goal[i] > 900 {
					goal[i] -= 80
				}
			}
			moved := 0
			until(t, "its motors go", func() bool {
				if err := c.Set(goal, torque); err != nil {
					t.Fatal(err)
				}
				now, err := c.Get()
				if err != nil {
					t.Fatal(err)
				}
				moved = 0
				for i := range now {
					if d := now[i] - goal[i]; d >= -12 && d <= 12 {
						moved++
					}
				}
				return 2*moved >= len(goal)
			})
			t.Logf("%d of %d motors within 12 of their goal, 40 of 1023 away", moved, len(goal))
		})
	}
}

// TestOSPMovesAll: a client of OSP registers for the first agent of every config, and its first motor moves.
func TestOSPMovesAll(t *testing.T) {
	for _, name := range configs.Names() {
		base, err := halyard.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		settings := []halyard.Setting{halyard.Set("clock.mode", "lockstep")}
		has := map[string]bool{}
		for _, s := range base.Servers {
			if !has[s.Protocol] {
				settings = append(settings, halyard.Listen(s.Protocol, "127.0.0.1:0"))
			}
			has[s.Protocol] = true
		}
		if !has["osp"] || len(base.Agents) == 0 {
			continue // the clients of another protocol's own robots
		}
		t.Run(name, func(t *testing.T) {
			cfg, err := halyard.Load(name, settings...)
			if err != nil {
				t.Fatal(err)
			}
			_, at := open(t, cfg)
			c, err := osp.Dial(at["osp"], osp.ClientOptions{Timeout: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			agents, err := c.Overview()
			if err != nil || len(agents) == 0 {
				t.Fatalf("got %v, %v, want agents", agents, err)
			}
			info, err := c.AgentInfo(agents[0].ID)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Register(agents[0].ID); err != nil {
				t.Fatal(err)
			}
			inputs := make([]float32, len(info.Inputs))
			for i := range inputs {
				inputs[i] = 0.5
			}
			r, err := c.Step(agents[0].ID, nil)
			if err != nil {
				t.Fatal(err)
			}
			before := append([]float32(nil), r.Outputs...)
			for range 100 {
				if r, err = c.Step(agents[0].ID, inputs); err != nil {
					t.Fatal(err)
				}
			}
			most, which := 0.0, ""
			for i := range before {
				if d := math.Abs(float64(r.Outputs[i] - before[i])); d > most {
					most, which = d, info.Outputs[i].Name
				}
			}
			t.Logf("%d inputs, %d outputs; %s moved by %.3f of its range in 1 s", len(info.Inputs), len(info.Outputs),
				which,
				most)
			if most < 0.01 {
				t.Errorf("got %.4f, want an output that moves", most)
			}
		})
	}
}

// robotFile writes a robot file and returns its path.
func robotFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// talk connects to a server of lines; say sends one, and the lines that it sends come one by one.
func talk(t *testing.T, address string) (say func(line string), lines <-chan string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	out := make(chan string, 10_000)
	go func() {
		defer close(out)
		for s := bufio.NewScanner(conn); s.Scan(); {
			out <- s.Text()
		}
	}()
	return func(line string) {
		if _, err := io.WriteString(conn, line+"\r\n"); err != nil {
			t.Fatal(err)
		}
	}, out
}

// await waits for a line with all the words.
func await(t *testing.T, lines <-chan string, words ...string) string {
	t.Helper()
	for late := time.After(time.Minute); ; {
		select {
		case line, ok := <-lines:
			if !ok {
				t.Fatalf("the connection ended before a line with %q", words)
			}
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
				return line
			}
		case <-late:
			t.Fatalf("no line with %q within a minute", words)
		}
	}
}

// TestGamebotsMovesURDF: a client of USARSim spawns an arm of a URDF without data for USARSim, is told of its mission
// package, and moves its terminal.
func TestGamebotsMovesURDF(t *testing.T) {
	arm, err := filepath.Abs("../../sim/model/testdata/arm/urdf/arm.urdf")
	if err != nil {
		t.Fatal(err)
	}
	sys, at := serve(t, fmt.Sprintf(`name: robots
world: {scene: yellow}
classes: {USARBot.Arm: {model: %q}}
servers: [{protocol: gamebots, listen: "127.0.0.1:0"}]
`, arm))
	say, lines := talk(t, at["gamebots"])
	say("INIT {ClassName USARBot.Arm} {Name one} {Location 4.5,1.9,1.8}")
	t.Log(await(t, lines, "MIS {Type Arm} {Name Arm} {Part pan"))
	pan := func() float64 { return sys.Agents()[0].State("pan").Position }
	from := pan()
	until(t, "the pan turns by 0.3 rad", func() bool {
		say("MISPKG {Name Arm} {Translation 0.2,0.2,-0.4} {Order 0}")
		return math.Abs(pan()-from) > 0.3
	})
}

// TestSimloidTellsBodies: a client of Simloid is told where the bodies of an MJCF are.
func TestSimloidTellsBodies(t *testing.T) {
	file := robotFile(t, "dog.xml", `<mujoco><worldbody><body name="trunk" pos="0 0 0.5"><freejoint/>
		<geom type="box" size="0.2 0.1 0.05" mass="6"/><body name="leg" pos="0.15 0 -0.05"><joint name="hip" axis="0 1 0" range="-60 60"/>
		<geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.5"/></body></body></worldbody></mujoco>`)
	sys, at := serve(t, fmt.Sprintf(`name: robots
clock: {mode: lockstep, period: 10ms}
agents: [{name: dog, model: %q}]
servers: [{protocol: simloid, agent: dog, listen: "127.0.0.1:0"}]
`, file))
	c, err := simloid.Dial(at["simloid"], simloid.ClientOptions{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := c.Traits(); got.Bodies != 2 {
		t.Errorf("got %d bodies, want the trunk and the leg", got.Bodies)
	}
	if l := sys.Agent("dog").Layout(); len(l.Infos) < 12 {
		t.Errorf("got infos %+v, want the places of two bodies", l.Infos)
	}
}

// TestPlayerDrivesCart: a client of Player drives a cart of a URDF whose config says that its wheels carry it.
func TestPlayerDrivesCart(t *testing.T) {
	wheel := func(name, at string) string {
		return `<link name="` + name +
			`"><inertial><mass value="0.5"/><inertia ixx="0.001" iyy="0.001" izz="0.001"/></inertial>
			<collision><origin rpy="1.5708 0 0"/><geometry><cylinder radius="0.1" length="0.05"/></geometry></collision></link>
			<joint name="` + name + `_joint" type="continuous"><parent link="base"/><child link="` + name + `"/>
			<origin xyz="` + at + `"/><axis xyz="0 1 0"/><limit effort="5" velocity="20"/></joint>`
	}
	file := robotFile(t, "cart.urdf", `<robot name="cart"><link name="base"><inertial><mass value="5"/>
		<inertia ixx="0.05" iyy="0.05" izz="0.05"/></inertial><collision><geometry><box size="0.5 0.3 0.1"/></geometry></collision></link>`+
		wheel("fl", "0.2 0.2 0")+wheel("fr", "0.2 -0.2 0")+wheel("rl", "-0.2 0.2 0")+wheel("rr", "-0.2 -0.2 0")+
		`</robot>`)
	sys, at := serve(t, fmt.Sprintf(`name: robots
clock: {mode: lockstep, period: 10ms}
agents: [{name: cart, model: %q, base: floating, drive: {kind: skid}, pose: {position: [0, 0, 0.1]}}]
servers: [{protocol: player, agent: cart, listen: "127.0.0.1:0"}]
`, file))
	conn, err := net.Dial("tcp", at["player"])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go io.Copy(io.Discard, conn)
	l := sys.Agent("cart").Layout()
	place := slices.IndexFunc(l.Sensors, func(s hal.Sensor) bool { return s.Kind == "odometry" })
	if place < 0 {
		t.Fatalf("got sensors %+v, want odometry", l.Sensors)
	}
	until(t, "the cart goes ahead by 0.3 m", func() bool {
		goal := make([]byte, 28) // x, y, turn as doubles, and the motors' state
		binary.BigEndian.PutUint64(goal, math.Float64bits(0.5))
		goal[27] = 1
		h := player.Header{Device: player.Device{Interface: player.Position2D}, Type: player.Cmd, Subtype: 1,
			Size: uint32(len(goal))}
		if _, err := conn.Write(append(h.Append(nil), goal...)); err != nil {
			t.Fatal(err)
		}
		v, _, err := sys.Agent("cart").Sensor(l.Sensors[place].Name, nil)
		return err == nil && len(v) > 0 && v[0] > 0.3
	})
}
