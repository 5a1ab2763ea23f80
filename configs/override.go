package configs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Options are the changes of a config by the command line. They change the document before it is decoded, so that the
// same rules apply; a fault in an option names the option instead of a line.
type Options struct {
	Set  []string // "agents[0].body=emulated", in order; the value is YAML; an index one past the end appends
	Body string   // "sim", "emulated" or "real" for every agent and class, and no parts; "" leaves them
	// Emulates makes everything real emulated, and leaves what is simulated: the devices of a mixture on its bench.
	Emulates bool
	Listen   []string // "PROTOCOL=ADDR" or "PROTOCOL@AGENT=ADDR": moves that server, or adds one
}

// The bounds of Options, which a recording or a queue may bring: beyond them their cost, which is quadratic, would be
// minutes.
const (
	maxOptions = 1000 // of each kind
	maxPath    = 2048 // bytes
)

// override applies o to root, which is a table.
func override(root *yaml.Node, o Options, d *yaml.Document) {
	// The broad options come after --set, so that no --set can override "--body sim".
	if n := max(len(o.Set), len(o.Listen)); n > maxOptions {
		d.Refuse(yaml.Place{Source: "options"}, fmt.Sprintf("%d", n), fmt.Sprintf("at most %d", maxOptions), "")
		return
	}
	for _, s := range o.Set {
		at := yaml.Place{Source: "--set " + s}
		if err := setPath(root, s, at, d); err != nil {
			d.Refuse(at, err.got, err.rule, "")
		}
	}
	if o.Emulates {
		eachRobot(root, emulateReal)
	}
	if o.Body != "" {
		overrideBody(root, o.Body, d)
	}
	for _, l := range o.Listen {
		at := yaml.Place{Source: "--listen " + l}
		if err := overrideListen(root, l, at); err != nil {
			d.Refuse(at, err.got, err.rule, "")
		}
	}
}

// mismatch is a fault in the form of an option. Decoding finds faults in its value.
type mismatch struct{ got, rule string }

// setPath handles one PATH=VALUE. It creates missing keys on the way.
func setPath(root *yaml.Node, s string, at yaml.Place, d *yaml.Document) *mismatch {
	path, value, ok := cutAssignment(s)
	if !ok {
		return &mismatch{yaml.Quote(s), "PATH=VALUE, such as agents[0].body=emulated"}
	}
	steps, err := path.Steps()
	if err != nil {
		return &mismatch{yaml.Quote(string(path)), "a path such as agents[0].hardware.joints.left_elbow.id"}
	}
	// Walk down and create missing nodes. A value of another type is never overwritten on the way: name.x=y is a
	// mistake, not a request to turn name into a table.
	n := root
	var walked Path
	for _, st := range steps {
		if st.Index < 0 {
			if n.Kind == yaml.Null {
				n.Kind = yaml.Table
			}
			if n.Kind != yaml.Table {
				return &mismatch{fmt.Sprintf("%s at %s", n, walked), "a table with the key " + st.Key}
			}
			walked = walked.Key(st.Key)
			if n.Key(st.Key) == nil {
				n.Set(st.Key, &yaml.Node{At: at})
			}
			n = n.Key(st.Key).Value
			continue
		}
		if n.Kind == yaml.Null {
			n.Kind = yaml.List
		}
		if n.Kind != yaml.List {
			return &mismatch{fmt.Sprintf("%s at %s", n, walked), "a list"}
		}
		if st.Index > len(n.Items) {
			return &mismatch{string(walked.Index(st.Index)), fmt.Sprintf("an item 0..%d", len(n.Items))}
		}
		walked = walked.Index(st.Index)
		if st.Index == len(n.Items) {
			n.Items = append(n.Items, &yaml.Node{At: at})
		}
		n = n.Items[st.Index]
	}
	own, faults := yaml.Value(value, at)
	for _, f := range faults {
		d.Faults.Add(f)
	}
	*n = *own
	return nil
}

// cutAssignment splits at the first = that is not inside a quoted key: the first one after a complete path.
func cutAssignment(s string) (path Path, value string, ok bool) {
	for i := range min(len(s), maxPath) {
		if s[i] != '=' {
			continue
		}
		p := Path(s[:i])
		if steps, err := p.Steps(); err == nil && len(steps) > 0 {
			return p, s[i+1:], true
		}
		if !strings.Contains(s[:i], `["`) {
			return p, s[i+1:], i > 0
		}
	}
	return "", "", false
}

// overrideBody sets body everywhere and removes parts. Classes are included: a client that spawns one must not reach
// real motors in a run that was started with --body sim.
func overrideBody(root *yaml.Node, body string, d *yaml.Document) {
	at := yaml.Place{Source: "--body " + body}
	kinds := []string{string(Sim), string(Emulated), string(Real)}
	if k := BodyKind(body); k != Sim && k != Emulated && k != Real {
		d.Refuse(at, yaml.Quote(body), yaml.Words(kinds), yaml.Meant(body, kinds))
		return
	}
	eachRobot(root, func(robot *yaml.Node) {
		// A null parts keeps the key's place for faults and decodes as no parts.
		robot.Set("body", &yaml.Node{Kind: yaml.Text, Text: body, At: at})
		if robot.Key("parts") != nil {
			robot.Set("parts", &yaml.Node{At: at})
		}
		dropReal(robot, BodyKind(body))
	})
}

// dropReal removes what only a real robot can have from one that is no longer: the run with another body is not refused
// for it.
func dropReal(robot *yaml.Node, body BodyKind) {
	if body == Real {
		return
	}
	null := func(key string) {
		if k := robot.Key(key); k != nil {
			robot.Set(key, &yaml.Node{At: k.Value.At})
		}
	}
	null("couple")
	if on := robot.Key("on_loss"); body == Sim {
		null("on_loss")
	} else if on != nil && on.Value.Kind == yaml.Table {
		on.Value.Keys = slices.DeleteFunc(on.Value.Keys, func(k *yaml.Key) bool { return k.Value.Text == string(Sim) })
	}
}

// emulateReal makes what is real of a robot emulated.
func emulateReal(robot *yaml.Node) {
	dropReal(robot, Emulated)
	change := func(body *yaml.Key) {
		if body != nil && body.Value.Kind == yaml.Text && body.Value.Text == string(Real) {
			body.Value.Text = string(Emulated)
		}
	}
	change(robot.Key("body"))
	if parts := robot.Key("parts"); parts != nil && parts.Value.Kind == yaml.Table {
		for _, k := range parts.Value.Keys {
			change(k)
		}
	}
}

// eachRobot calls f for the agents and classes that are tables; decoding reports the others.
func eachRobot(root *yaml.Node, f func(robot *yaml.Node)) {
	change := func(robot *yaml.Node) {
		if robot.Kind == yaml.Table {
			f(robot)
		}
	}
	if agents := root.Key("agents"); agents != nil {
		for _, a := range agents.Value.Items {
			change(a)
		}
	}
	if classes := root.Key("classes"); classes != nil {
		for _, k := range classes.Value.Keys {
			change(k.Value)
		}
	}
}

// overrideListen handles one PROTOCOL=ADDR or PROTOCOL@AGENT=ADDR.
func overrideListen(root *yaml.Node, option string, at yaml.Place) *mismatch {
	which, address, ok := strings.Cut(option, "=")
	protocol, agent, named := strings.Cut(which, "@")
	if !ok || protocol == "" || named && agent == "" {
		return &mismatch{yaml.Quote(option), "PROTOCOL=HOST:PORT or PROTOCOL@AGENT=HOST:PORT"}
	}
	value := func(s string) *yaml.Node { return &yaml.Node{Kind: yaml.Text, Text: s, At: at} }
	if k := root.Key("servers"); k == nil || k.Value.Kind == yaml.Null {
		root.Set("servers", &yaml.Node{Kind: yaml.List, At: at})
	}
	servers := root.Key("servers").Value
	if servers.Kind != yaml.List {
		return nil // decoding reports it
	}
	// The server must be unambiguous: an address on the wrong server would give a robot to the wrong controller.
	var found []*yaml.Node
	for _, s := range servers.Items {
		if word(s, "protocol") == protocol && (!named || serves(root, s, agent)) {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		s := &yaml.Node{Kind: yaml.Table, At: at}
		s.Set("protocol", value(protocol))
		if named {
			s.Set("agent", value(agent))
		}
		found, servers.Items = append(found, s), append(servers.Items, s)
	case 1:
	default:
		return &mismatch{fmt.Sprintf("%d servers of %s", len(found), protocol),
			fmt.Sprintf("%s@AGENT=%s", protocol, address)}
	}
	found[0].Set("listen", value(address))
	return nil
}

// serves reports whether server is for agent: it names the agent, or names none and there is only one agent.
func serves(root, server *yaml.Node, agent string) bool {
	if a := word(server, "agent"); a != "" {
		return a == agent
	}
	agents := root.Key("agents")
	return agents != nil && len(agents.Value.Items) == 1 && word(agents.Value.Items[0], "name") == agent
}

// word is the text of n's key name, or "".
func word(n *yaml.Node, name string) string {
	if k := n.Key(name); k != nil && k.Value.Kind == yaml.Text {
		return k.Value.Text
	}
	return ""
}
