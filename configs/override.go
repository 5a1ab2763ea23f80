package configs

import (
	"fmt"
	"strings"
)

// Options are what a command line changes of a config. They change the document before it is decoded, so that they
// obey the same rules; a fault of theirs names the option instead of a line.
type Options struct {
	Set    []string // "agents[0].body=emulated", in order; the value is YAML; an index one past the end appends
	Body   string   // "sim", "emulated" or "real" for every agent and class, and no parts; "" leaves them
	Listen []string // "PROTOCOL=ADDR" or "PROTOCOL@AGENT=ADDR": moves that server, or adds one
}

// override applies o to root, which is a table.
func override(root *node, o Options, faults *Faults) {
	// The broad options come after --set, so that "--body sim" is a promise that no --set can break.
	for _, s := range o.Set {
		at := place{source: "--set " + s}
		if err := setPath(root, s, at, faults); err != nil {
			faults.Add(faultAt("", at, err.got, err.rule, ""))
		}
	}
	if o.Body != "" {
		overrideBody(root, o.Body, faults)
	}
	for _, l := range o.Listen {
		at := place{source: "--listen " + l}
		if err := overrideListen(root, l, at); err != nil {
			faults.Add(faultAt("", at, err.got, err.rule, ""))
		}
	}
}

// mismatch is what is wrong with the form of an option. What is wrong with its value, decoding finds.
type mismatch struct{ got, rule string }

// setPath handles one PATH=VALUE. What is missing on the way is made.
func setPath(root *node, s string, at place, faults *Faults) *mismatch {
	path, value, ok := cutAssignment(s)
	if !ok {
		return &mismatch{quote(s), "PATH=VALUE, such as agents[0].body=emulated"}
	}
	steps, err := path.steps()
	if err != nil {
		return &mismatch{quote(string(path)), "a path such as agents[0].hardware.joints.left_elbow.id"}
	}
	// Walk down, turning nothing into what the next step needs. A value that is something else is never overwritten
	// on the way: name.x=y is a slip, not a wish for name to become a table.
	n := root
	var walked Path
	for _, st := range steps {
		if st.index < 0 {
			if n.kind == null {
				n.kind = table
			}
			if n.kind != table {
				return &mismatch{fmt.Sprintf("%s at %s", n, walked), "a table with the key " + st.key}
			}
			walked = walked.Key(st.key)
			if n.key(st.key) == nil {
				n.set(st.key, &node{at: at})
			}
			n = n.key(st.key).value
			continue
		}
		if n.kind == null {
			n.kind = list
		}
		if n.kind != list {
			return &mismatch{fmt.Sprintf("%s at %s", n, walked), "a list"}
		}
		if st.index > len(n.items) {
			return &mismatch{string(walked.Index(st.index)), fmt.Sprintf("an item 0..%d", len(n.items))}
		}
		walked = walked.Index(st.index)
		if st.index == len(n.items) {
			n.items = append(n.items, &node{at: at})
		}
		n = n.items[st.index]
	}
	*n = *optionValue(value, at, faults)
	return nil
}

// cutAssignment splits at the first = that is not inside a quoted key, which is the first one before which a whole
// path stands.
func cutAssignment(s string) (path Path, value string, ok bool) {
	for i := range len(s) {
		if s[i] != '=' {
			continue
		}
		p := Path(s[:i])
		if steps, err := p.steps(); err == nil && len(steps) > 0 {
			return p, s[i+1:], true
		}
		if !strings.Contains(s[:i], `["`) {
			return p, s[i+1:], i > 0
		}
	}
	return "", "", false
}

// optionValue reads value as YAML, and as plain text where it is none: [::1]:80 is an address.
func optionValue(value string, at place, faults *Faults) *node {
	var own Faults
	r := reader{source: at.source, fixed: &at, faults: &own}
	n := r.read([]byte(value))
	if n == nil {
		return &node{kind: text, text: value, at: at}
	}
	for _, f := range own {
		faults.Add(f)
	}
	return n
}

// overrideBody sets body everywhere and takes the parts away. Classes are included: a client that spawns one must not
// reach real motors in a run that was started with --body sim.
func overrideBody(root *node, body string, faults *Faults) {
	at := place{source: "--body " + body}
	kinds := []string{string(Sim), string(Emulated), string(Real)}
	if k := BodyKind(body); k != Sim && k != Emulated && k != Real {
		faults.Add(faultAt("", at, quote(body), words(kinds), meant(body, kinds)))
		return
	}
	change := func(robot *node) {
		if robot.kind != table {
			return // decoding reports it
		}
		// A null body of parts keeps the key's place for faults and decodes as none.
		robot.set("body", &node{kind: text, text: body, at: at})
		if robot.key("parts") != nil {
			robot.set("parts", &node{at: at})
		}
	}
	if agents := root.key("agents"); agents != nil {
		for _, a := range agents.value.items {
			change(a)
		}
	}
	if classes := root.key("classes"); classes != nil {
		for _, k := range classes.value.keys {
			change(k.value)
		}
	}
}

// overrideListen handles one PROTOCOL=ADDR or PROTOCOL@AGENT=ADDR.
func overrideListen(root *node, option string, at place) *mismatch {
	which, address, ok := strings.Cut(option, "=")
	protocol, agent, named := strings.Cut(which, "@")
	if !ok || protocol == "" || named && agent == "" {
		return &mismatch{quote(option), "PROTOCOL=HOST:PORT or PROTOCOL@AGENT=HOST:PORT"}
	}
	value := func(s string) *node { return &node{kind: text, text: s, at: at} }
	if k := root.key("servers"); k == nil || k.value.kind == null {
		root.set("servers", &node{kind: list, at: at})
	}
	servers := root.key("servers").value
	if servers.kind != list {
		return nil // decoding reports it
	}
	// Which server is meant must be clear: an address on the wrong one would hand a robot to the wrong controller.
	var found []*node
	for _, s := range servers.items {
		if word(s, "protocol") == protocol && (!named || serves(root, s, agent)) {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		s := &node{kind: table, at: at}
		s.set("protocol", value(protocol))
		if named {
			s.set("agent", value(agent))
		}
		found, servers.items = append(found, s), append(servers.items, s)
	case 1:
	default:
		return &mismatch{fmt.Sprintf("%d servers of %s", len(found), protocol), fmt.Sprintf("%s@AGENT=%s", protocol, address)}
	}
	found[0].set("listen", value(address))
	return nil
}

// serves reports whether server is for agent: it says so, or says nothing and there is no other.
func serves(root, server *node, agent string) bool {
	if a := word(server, "agent"); a != "" {
		return a == agent
	}
	agents := root.key("agents")
	return agents != nil && len(agents.value.items) == 1 && word(agents.value.items[0], "name") == agent
}

// word is the text of n's key name, or "".
func word(n *node, name string) string {
	if k := n.key(name); k != nil && k.value.kind == text {
		return k.value.text
	}
	return ""
}
