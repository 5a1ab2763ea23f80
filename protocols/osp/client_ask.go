package osp

import (
	"fmt"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
)

// AgentEntry is one agent of an overview.
type AgentEntry struct {
	ID        int32
	Type      string
	Available bool // no client controls it
	Name      string
}

// AgentDescription lists an agent's inputs and outputs, in the order of a step's inputs and results.
type AgentDescription struct {
	ID                     int32
	Name                   string
	Inputs, Outputs, Infos []Terminal
}

// Terminal is one input, output or info with its normalised range.
type Terminal struct {
	Name     string
	Min, Max float32
}

// ValueEntry is one named value.
type ValueEntry struct {
	ID         int32
	Type, Name string
}

// Overview lists all agents. Call it first: the server assigns their ids in it.
func (c *Client) Overview() ([]AgentEntry, error) {
	list, err := listed(c, "overview", &Datagram{Command: getAgentOverview}, agentOverview, agentOverviewNext,
		func(d *Datagram) AgentEntry {
			return AgentEntry{ID: d.ID, Type: d.Type, Available: d.Status != 0, Name: d.Name}
		})
	if err != nil {
		return nil, err
	}
	return list, c.send(&Datagram{Command: agentOverviewAck})
}

// AgentInfo describes one agent of the overview.
func (c *Client) AgentInfo(id int32) (*AgentDescription, error) {
	var info *AgentDescription
	var all []Terminal
	p := parts{}
	err := c.exchange("agent info", &Datagram{Command: getAgentInfo, ID: id}, func() bool {
		switch d := &c.d; {
		case d.Command == agentInfo && d.ID == id:
			n := [...]int{int(d.NumInputs), int(d.NumOutputs), int(d.NumInfos)}
			if min(n[0], n[1], n[2]) < 0 || max(n[0], n[1], n[2]) > maxParts {
				return false
			}
			p.begin(n[0] + n[1] + n[2])
			all = make([]Terminal, p.total())
			info = &AgentDescription{ID: id, Name: d.Name, Inputs: all[:n[0]], Outputs: all[n[0] : n[0]+n[1]],
				Infos: all[n[0]+n[1]:]}
		case d.Command == agentInfo && d.ID == 0:
			p.begin(0) // no such agent
		case d.Command == agentInfoNext && p.accept(d.Index):
			all[d.Index] = Terminal{Name: d.Name, Min: d.Min, Max: d.Max}
		}
		return p.done()
	})
	if err == nil && info == nil {
		err = &hal.Error{Kind: hal.Absent, Op: "osp: agent info",
			Err: fmt.Errorf("got id %d, want an id of the overview", id)}
	}
	if err != nil {
		return nil, err
	}
	return info, c.send(&Datagram{Command: agentInfoAck})
}

// Register acquires control of an agent of the overview.
func (c *Client) Register(id int32) error {
	err := c.exchange("register", &Datagram{Command: registerForAgent, ID: id}, c.gotID(registerForAgentAck, id))
	if err != nil {
		return err
	}
	if c.d.Status != StatusOK {
		return &hal.Error{Kind: hal.Busy, Op: "osp: register",
			Err: fmt.Errorf("agent %d: unknown, or another client controls it", id)}
	}
	if c.remote(id) == nil {
		c.agents = append(c.agents, &remote{id: id})
	}
	return nil
}

// Deregister releases an agent.
func (c *Client) Deregister(id int32) error {
	c.agents = slices.DeleteFunc(c.agents, func(r *remote) bool { return r.id == id })
	return c.exchange("deregister", &Datagram{Command: deregisterFromAgent, ID: id},
		c.gotID(deregisterFromAgentAck, id))
}

func (c *Client) notHeld(op string, id int32) error {
	return &hal.Error{Kind: hal.Invalid, Op: "osp: " + op, Err: fmt.Errorf("agent %d: not registered for it", id)}
}

// RegisterEvent returns the client's id of an event, 0 if absent of that name.
func (c *Client) RegisterEvent(name string) (int32, error) {
	err := c.exchange("register event", &Datagram{Command: registerForEvent, Name: name}, c.got(registerForEventAck))
	return c.d.ID, err
}

// DeregisterEvent ends the reports of an event.
func (c *Client) DeregisterEvent(id int32) error {
	return c.exchange("deregister event", &Datagram{Command: deregisterFromEvent, ID: id},
		c.gotID(deregisterFromEventAck, id))
}

// FindValues lists the values whose whole name matches the regular expression.
func (c *Client) FindValues(expression string) ([]ValueEntry, error) {
	return listed(c, "find values", &Datagram{Command: getValueIDs, Name: expression}, valueIDs, valueInfo,
		func(d *Datagram) ValueEntry {
			return ValueEntry{ID: d.ID, Type: d.Type, Name: d.Name}
		})
}

// listed requests a list: a datagram head with the number of its items, then one datagram for each.
func listed[T any](c *Client, op string, request *Datagram, head, item Command, of func(d *Datagram) T) (list []T,
	err error) {
	p := parts{}
	err = c.exchange(op, request, func() bool {
		switch d := &c.d; d.Command {
		case head:
			p.begin(int(d.Count))
			list = make([]T, p.total())
		case item:
			if p.accept(d.Index) {
				list[d.Index] = of(d)
			}
		}
		return p.done()
	})
	return list, err
}

// Value reads the text of a value.
func (c *Client) Value(id int32) (string, error) {
	err := c.exchange("read value", &Datagram{Command: getValue, ID: id}, func() bool {
		return c.d.Command == value && (c.d.ID == id || c.d.ID == -1)
	})
	if err == nil && c.d.ID != id {
		err = &hal.Error{Kind: hal.Absent, Op: "osp: read value",
			Err: fmt.Errorf("got id %d, want an id from FindValues", id)}
	}
	return string(c.d.Content), err
}

// SetValue sets a value from its text.
func (c *Client) SetValue(id int32, content string) error {
	d := Datagram{Command: setValue, ID: id, Content: []byte(content)}
	if err := c.exchange("set value", &d, c.gotID(setValueAck, id)); err != nil {
		return err
	}
	switch c.d.Status {
	case StatusOK:
		return nil
	case StatusUnknown:
		return &hal.Error{Kind: hal.Absent, Op: "osp: set value",
			Err: fmt.Errorf("got id %d, want an id from FindValues", id)}
	}
	return &hal.Error{Kind: hal.Invalid, Op: "osp: set value",
		Err: fmt.Errorf("value %d: %q: not understood, or read-only", id, content)}
}

// Observe requests values with the result of every step; Unobserve ends it. They return the ids in the server's answer,
// with 0 for an unknown id.
func (c *Client) Observe(ids ...int32) ([]int32, error)   { return c.observe(registerForValue, ids) }
func (c *Client) Unobserve(ids ...int32) ([]int32, error) { return c.observe(deregisterFromValue, ids) }

func (c *Client) observe(command Command, ids []int32) ([]int32, error) {
	if err := c.exchange("observe", &Datagram{Command: command, IDs: ids}, c.got(command+1)); err != nil {
		return nil, err
	}
	known := append([]int32(nil), c.d.IDs...)
	if len(known) == len(ids)-1 {
		// no count was sent, and the first id looked like one: it was as many as came behind it
		known = append([]int32{int32(len(known))}, known...)
	}
	return known, nil
}

// maxParts bounds the number of datagrams that a server may announce.
const maxParts = 1 << 16

// parts counts the received datagrams of an answer of several; each counts once, in any order. An answer with a gap is
// requested again as a whole.
type parts struct {
	begun bool
	seen  []bool
	left  int
}

func (p *parts) begin(n int) {
	if n >= 0 && n <= maxParts {
		*p = parts{begun: true, seen: make([]bool, n), left: n}
	}
}

func (p *parts) total() int { return len(p.seen) }
func (p *parts) done() bool { return p.begun && p.left == 0 }

func (p *parts) accept(index int32) bool {
	if index < 0 || int(index) >= len(p.seen) || p.seen[index] {
		return false
	}
	p.seen[index] = true
	p.left--
	return true
}
