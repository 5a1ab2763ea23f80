package configs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

func parsed(t *testing.T, yaml string, o Options) *Config {
	t.Helper()
	c, err := Parse([]byte(yaml), "f.yaml", o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSet(t *testing.T) {
	c := parsed(t, rig, set(
		"clock.mode=realtime",
		"clock.period=2ms",
		"agents[0].body=emulated",
		"agents[0].parts={wrist: sim}",
		"agents[1].hardware.joints.knee={bus: left, id: 2, model: mx-28}", // creates missing keys on the way
		`classes["USARBot.P2AT"].model=a=b`,
		"servers[0].listen=[::1]:45454", // no YAML, but an address
		"servers[1].protocol=odcp",      // one past the end appends
		"servers[1].listen=127.0.0.1:0",
		"servers[1].agent=a",
		"servers[1].agent=b", // the last one wins
	))
	a := c.Agents[0]
	if c.Clock.Mode != Realtime || c.Clock.Period.String() != "2ms" || a.Body != Emulated || a.BodyOf("wrist") != Sim ||
		a.BodyOf("elbow") != Emulated {
		t.Errorf("got %+v, %+v", c.Clock, a)
	}
	if got := c.Agents[1].Hardware.Joints["knee"]; got.ID != 2 || got.Model != "mx-28" {
		t.Errorf("joint: got %+v", got)
	}
	if got := c.Classes["USARBot.P2AT"].Model; got != "a=b" {
		t.Errorf("class: got %q", got)
	}
	if len(c.Servers) != 2 || c.Servers[0].Listen != "[::1]:45454" || c.Servers[1].Agent != "b" {
		t.Errorf("servers: got %+v", c.Servers)
	}
}

func TestBody(t *testing.T) {
	mixed := with("    model: m\n", "    model: m\n    parts: {elbow: emulated}\n", "  - {name: b, model: m}\n", "") +
		"classes: {c: {model: m, body: real, hardware: {joints: {}}}}\n"
	c := parsed(t, mixed, Options{})
	if a := c.Agents[0]; !a.Has(Emulated) || a.Has(Real) || c.Clock.Mode != Realtime ||
		c.Classes["c"].Guard.CommandTimeout == 0 {
		t.Fatalf("as written: got %+v, clock %+v", a, c.Clock)
	}
	c = parsed(t, mixed, Options{Body: "sim"})
	if a := c.Agents[0]; a.Has(Emulated) || len(a.Parts) > 0 || c.Clock.Mode != Lockstep || c.Classes["c"].Body != Sim {
		t.Errorf("--body sim: got %+v, class %+v", a, c.Classes["c"])
	}
}

func TestListen(t *testing.T) {
	const both = "name: r\nagents: [{name: a, model: m}, {name: b, model: m}]\n"
	servers := "servers: [{protocol: osp, listen: \"127.0.0.1:1\"}, {protocol: odcp, listen: \"127.0.0.1:2\", " +
		"agent: a}]\n"
	const one = "name: r\nagents: [{name: a, model: m}]\nservers: [{protocol: odcp, listen: \"127.0.0.1:2\"}]\n"
	for _, tc := range []struct {
		name   string
		yaml   string
		listen []string
		want   []string // PROTOCOL@AGENT=ADDR of every server
	}{
		{"moved", both + servers, []string{"osp=127.0.0.1:0"}, []string{"osp@=127.0.0.1:0", "odcp@a=127.0.0.1:2"}},
		{"moved by agent", both + servers, []string{"odcp@a=127.0.0.1:0"},
			[]string{"osp@=127.0.0.1:1", "odcp@a=127.0.0.1:0"}},
		{"added for an agent", both + servers, []string{"odcp@b=127.0.0.1:3"},
			[]string{"osp@=127.0.0.1:1", "odcp@a=127.0.0.1:2", "odcp@b=127.0.0.1:3"}},
		{"added to none", both, []string{"osp=127.0.0.1:4"}, []string{"osp@=127.0.0.1:4"}},
		{"the only agent", one, []string{"odcp@a=127.0.0.1:5"}, []string{"odcp@a=127.0.0.1:5"}},
		{"any port, twice", one, []string{"odcp=127.0.0.1:0", "osp=127.0.0.1:0", "osp=127.0.0.1:6"},
			[]string{"odcp@a=127.0.0.1:0", "osp@=127.0.0.1:6"}},
	} {
		var got []string
		for _, s := range parsed(t, tc.yaml, Options{Listen: tc.listen}).Servers {
			got = append(got, s.Protocol+"@"+s.Agent+"="+s.Listen)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

// Listening on the network is allowed and noted.
func TestNotes(t *testing.T) {
	for _, tc := range []struct{ listen, want string }{
		{"127.0.0.1:45454", ""},
		{"localhost:45454", ""},
		{"[::1]:45454", ""},
		{":45454", `--listen osp=:45454: servers[0].listen: got ":45454", want 127.0.0.1 unless the network may command the robot`},
		{"0.0.0.0:0", `--listen osp=0.0.0.0:0: servers[0].listen: got "0.0.0.0:0", want 127.0.0.1 unless the network may command the robot`},
		{"robot.local:1", `--listen osp=robot.local:1: servers[0].listen: got "robot.local:1", want 127.0.0.1 unless the network may command the robot`},
	} {
		if got := parsed(t, rig, Options{Listen: []string{"osp=" + tc.listen}}).Notes.Error(); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.listen, got, tc.want)
		}
	}
}

// Options that cost too much, as a hostile recording may have them, are refused for little.
func TestHostileOptions(t *testing.T) {
	many := make([]string, 100_000)
	for i := range many {
		many[i] = fmt.Sprintf("k%d=1", i)
	}
	for name, o := range map[string]Options{"a long path": {Set: []string{`["` + strings.Repeat("=", 300_000)}},
		"many": {Set: many}, "many listeners": {Listen: many}} {
		start := time.Now()
		_, err := Parse([]byte("name: a\n"), "f.yaml", o)
		if took := time.Since(start); hal.KindOf(err) != hal.Invalid || took > 20*time.Second {
			t.Errorf("%s: took %v, %.200v", name, took, err)
		}
	}
}
