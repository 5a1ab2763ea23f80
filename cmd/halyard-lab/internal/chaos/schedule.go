package chaos

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Action is one thing that happens before a cycle. Its text is
//
//	at 40 command a 2 velocity 1.5     client a commands joint 2 of the robot
//	at 41 brief a 2 velocity 1.5       likewise, and it disconnects before the cycle
//	at 45 limit a 2 0.3                client a bounds joint 2's torque to that share, and commands it no goal any more
//	at 50 rubbish a                    client a sends NaN and infinities
//	at 60 hang a | leave a             client a sends nothing more, or disconnects
//	at 70 stop | reset | arm | disarm  the operator
//	at 72 ask a arm                    client a asks for it: stop, reset, arm, disarm
//	at 73 button 1                     the button of a stop input is pressed, 0 = not any more
//	at 74 panic 0                      in a client's goroutine; 1 = in the cycle
//	at 75 end                          Control-C
//	at 80 fault 0 crc servo 1 p=1 for=300ms   a fault of line 0, see sim/emulator
//	at 90 hand 2 0.8                   a hand pushes joint 2 with a share of its stall torque, 0 = lets go
//	at 92 sag 2 0.6                    the supply of joint 2 gives that share of its voltage, 1 = well
//	at 93 id 2 17                      the servo of joint 2 answers at another id
//	at 95 late 7                       the host misses 7 periods, as after SIGSTOP
//	at 96 suspend 80                   the machine was suspended for 80 periods
//	at 97 output full                  the log's output is full, closed, blocked or well, or a recording is unread
type Action struct {
	At     int // cycle
	Verb   string
	Client string  // a or b
	Joint  int     // of the first robot, or a line of the robot's for fault
	Mode   string  // of a command
	Value  float64 // of a command, a hand or a supply, an id, or periods
	Fault  string  // of a line, or of the output
}

func (a Action) String() string {
	head := fmt.Sprintf("at %d %s", a.At, a.Verb)
	switch a.Verb {
	case "command", "brief":
		return fmt.Sprintf("%s %s %d %s %.4g", head, a.Client, a.Joint, a.Mode, a.Value)
	case "limit":
		return fmt.Sprintf("%s %s %d %.4g", head, a.Client, a.Joint, a.Value)
	case "rubbish", "hang", "leave":
		return head + " " + a.Client
	case "fault":
		return fmt.Sprintf("%s %d %s", head, a.Joint, a.Fault)
	case "hand", "sag", "id":
		return fmt.Sprintf("%s %d %.4g", head, a.Joint, a.Value)
	case "ask":
		return head + " " + a.Client + " " + a.Mode
	case "late", "suspend", "button", "panic":
		return fmt.Sprintf("%s %.0f", head, a.Value)
	case "output":
		return head + " " + a.Fault
	}
	return head
}

// Parse reads an action's text.
func Parse(text string) (a Action, err error) {
	w := strings.Fields(text)
	bad := func() (Action, error) {
		return a, fmt.Errorf("action %q: want an action as halyard-lab chaos prints it", text)
	}
	number := func(s string) float64 {
		v, e := strconv.ParseFloat(s, 64)
		if e != nil || math.IsNaN(v) {
			err = fmt.Errorf("action %q: got number %q", text, s)
		}
		return v
	}
	if len(w) < 3 || w[0] != "at" {
		return bad()
	}
	a.At, a.Verb = int(number(w[1])), w[2]
	switch rest := w[3:]; {
	case (a.Verb == "command" || a.Verb == "brief") && len(rest) == 4:
		a.Client, a.Joint, a.Mode, a.Value = rest[0], int(number(rest[1])), rest[2], number(rest[3])
	case a.Verb == "limit" && len(rest) == 3:
		a.Client, a.Joint, a.Value = rest[0], int(number(rest[1])), number(rest[2])
	case (a.Verb == "rubbish" || a.Verb == "hang" || a.Verb == "leave") && len(rest) == 1:
		a.Client = rest[0]
	case a.Verb == "fault" && len(rest) > 1:
		a.Joint, a.Fault = int(number(rest[0])), strings.Join(rest[1:], " ")
	case (a.Verb == "hand" || a.Verb == "sag" || a.Verb == "id") && len(rest) == 2:
		a.Joint, a.Value = int(number(rest[0])), number(rest[1])
	case a.Verb == "ask" && len(rest) == 2 && slices.Contains(orders, rest[1]):
		a.Client, a.Mode = rest[0], rest[1]
	case slices.Contains([]string{"late", "suspend", "button", "panic"}, a.Verb) && len(rest) == 1:
		a.Value = math.Max(0, number(rest[0]))
	case a.Verb == "output" && len(rest) == 1 && slices.Contains(outputs(), rest[0]):
		a.Fault = rest[0]
	case (slices.Contains(orders, a.Verb) || a.Verb == "end") && len(rest) == 0:
	default:
		return bad()
	}
	return a, err
}

// ParseAll reads a schedule, an action a line. Empty lines and those that begin with # are left out.
func ParseAll(text string) (list []Action, err error) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		a, err := Parse(line)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// faults are what may go wrong with a servo. All of it is bounded in time.
var faults = []string{
	"power_loss servo %d", "stuck servo %d", "garbage servo %d", "wrong servo %d by=60", "delayed servo %d by=60ms",
	"delayed servo %d", "stale servo %d", "dropped servo %d", "crc servo %d p=1", "crc servo %d p=0.3",
	"truncated servo %d p=0.5", "truncated bus p=0.3", "crc bus p=0.2", "duplicate_id servo %d", "unplugged bus",
	"unplugged servo %d", "power_loss bus",
}

// orders are an operator's, and what a client may ask for.
var orders = []string{"stop", "reset", "arm", "disarm"}

// outputs are the states of what the rig reports to.
func outputs() []string {
	return []string{wellOutput, fullOutput, closedOutput, blockedOutput, unreadOutput}
}

// generate makes the schedule of a seed for a robot.
func generate(seed int64, s *shape) (list []Action) {
	dice := rand.New(rand.NewPCG(uint64(seed), 0x68616c79617264))
	last := 20 + dice.IntN(100)
	add := func(a Action) { a.At = min(a.At, last); list = append(list, a) }
	for at := 3 + dice.IntN(6); at < last; at += 1 + dice.IntN(14) {
		a := Action{At: at, Client: string(rune('a' + dice.IntN(2))), Joint: dice.IntN(len(s.joints))}
		j := &s.joints[a.Joint]
		// An operator mostly goes on from where he stopped it.
		later := func(verbs ...string) {
			for k, verb := range verbs {
				if dice.IntN(8) > 0 {
					add(Action{At: at + (k+1)*(2+dice.IntN(12)), Verb: verb})
				}
			}
		}
		// until ends a thing that begins with a, some cycles later.
		until := func(end Action, most int) {
			add(a)
			end.At = at + 3 + dice.IntN(most)
			a = end
		}
		switch n := dice.IntN(100); {
		case n < 46:
			a.Verb = "command"
			if n < 4 {
				a.Verb = "brief"
			}
			a.Mode = j.modes[dice.IntN(len(j.modes))].String()
			if a.Value = 2*dice.Float64() - 1; dice.IntN(6) == 0 {
				a.Value *= 1e3 // far beyond every limit
			}
			if n == 0 {
				a.Verb, a.Mode, a.Value = "limit", "", math.Min(1, math.Abs(a.Value))
			}
		case n < 49:
			a.Verb = "rubbish"
		case n < 54:
			a.Verb = "hang"
		case n < 59:
			a.Verb = "leave"
		case n < 64:
			a.Verb = "stop"
			later("reset", "arm")
		case n < 67:
			a.Verb = "reset"
			later("arm")
		case n < 69:
			a.Verb, a.Mode = "ask", orders[dice.IntN(len(orders))]
			if later("reset", "arm"); dice.IntN(2) == 0 { // and asks on
				add(Action{At: at + 2 + dice.IntN(9), Verb: "ask", Client: a.Client, Mode: "reset"})
				add(Action{At: at + 12 + dice.IntN(9), Verb: "ask", Client: a.Client, Mode: "arm"})
			}
		case n < 71:
			a.Verb = "arm"
		case n < 74:
			a.Verb = "disarm"
			later("arm")
		case n < 87:
			a.Verb, a.Joint = "fault", dice.IntN(len(s.lines))
			a.Fault = faults[dice.IntN(len(faults))]
			if strings.Contains(a.Fault, "%d") {
				ids := s.lines[a.Joint].ids
				a.Fault = fmt.Sprintf(a.Fault, ids[dice.IntN(len(ids))])
			}
			a.Fault += fmt.Sprintf(" for=%dms", 20+dice.IntN(300))
		case n < 92:
			a.Verb, a.Value = "hand", 1.2*(2*dice.Float64()-1)
			if dice.IntN(2) == 0 { // against any motor, beyond the soft limits, near which it was commanded
				a.Value *= 3
				add(Action{At: max(3, at-20), Verb: "command", Client: a.Client, Joint: a.Joint,
					Mode:  j.modes[0].String(),
					Value: math.Copysign(0.8, a.Value)})
			}
			until(Action{Verb: "hand", Joint: a.Joint}, 40)
		case n < 94:
			a.Verb, a.Value = "sag", 0.2+0.7*dice.Float64()
			until(Action{Verb: "sag", Joint: a.Joint, Value: 1}, 25)
		case n < 96:
			id := j.id + 8 + dice.IntN(8)
			// two servos on one id that execute the same command cannot be distinguished
			for slices.Contains(s.lines[j.line].ids, id) {
				id++
			}
			a.Verb, a.Value = "id", float64(id)
			until(Action{Verb: "id", Joint: a.Joint, Value: float64(j.id)}, 30)
		case n < 98:
			a.Verb, a.Value = "late", float64(1+dice.IntN(45))
		case n < 99 && dice.IntN(2) == 0:
			a.Verb, a.Value = "suspend", float64(10+dice.IntN(90))
		case n < 99 && dice.IntN(3) > 0:
			a.Verb, a.Value = "button", 1
			later("reset", "reset", "arm")
			until(Action{Verb: "button"}, 12)
		case n < 99:
			a.Verb, a.Value = "panic", float64(dice.IntN(2))
			later("reset", "arm")
		default:
			a.Verb, a.Fault = "output", outputs()[1+dice.IntN(4)]
			until(Action{Verb: "output", Fault: wellOutput}, 60)
		}
		add(a)
	}
	if r := dice.IntN(8); r == 0 { // with what comes after it
		at := last/2 + dice.IntN(last/2)
		add(Action{At: at, Verb: "end"})
		if dice.IntN(2) == 0 {
			add(Action{At: at + dice.IntN(20), Verb: []string{"stop", "reset", "arm", "disarm"}[dice.IntN(4)]})
		}
	}
	for _, who := range []string{"a", "b"} {
		add(Action{At: last, Verb: []string{"hang", "leave"}[dice.IntN(2)], Client: who})
	}
	slices.SortStableFunc(list, func(a, b Action) int { return a.At - b.At })
	for i := range list { // to the digits of its text, which is to be the same schedule
		list[i], _ = Parse(list[i].String())
	}
	return list
}
