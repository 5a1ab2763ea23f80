package chaos

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Length is the number of cycles of a schedule, Quiet that of its end in which nothing happens any more.
const (
	Length = 300
	Quiet  = 140
)

// Action is one thing that happens before a cycle. Its text is
//
//	at 40 command a 2 velocity 1.5     client a commands joint 2 of the robot
//	at 50 rubbish a                    client a sends NaN and infinities
//	at 60 hang a | leave a             client a sends nothing more, or disconnects
//	at 70 stop | reset | arm | disarm  the operator
//	at 80 fault 0 crc servo 1 p=1 for=300ms   a fault of line 0, see sim/emulator
//	at 90 hand 2 0.8                   a hand pushes joint 2 with a share of its stall torque, 0 = lets go
//	at 95 late 7                       the host misses 7 periods
type Action struct {
	At    int // cycle
	Verb  string
	Who   string  // client
	Joint int     // of the first robot, or a line of the robot's for fault
	Mode  string  // of a command
	Value float64 // of a command or a hand, or periods
	Fault string
}

func (a Action) String() string {
	head := fmt.Sprintf("at %d %s", a.At, a.Verb)
	switch a.Verb {
	case "command":
		return fmt.Sprintf("%s %s %d %s %.4g", head, a.Who, a.Joint, a.Mode, a.Value)
	case "rubbish", "hang", "leave":
		return head + " " + a.Who
	case "fault":
		return fmt.Sprintf("%s %d %s", head, a.Joint, a.Fault)
	case "hand":
		return fmt.Sprintf("%s %d %.4g", head, a.Joint, a.Value)
	case "late":
		return fmt.Sprintf("%s %.0f", head, a.Value)
	}
	return head
}

// Parse reads an action's text.
func Parse(text string) (a Action, err error) {
	w := strings.Fields(text)
	bad := func() (Action, error) {
		return a, fmt.Errorf("action %q: want one as halyard chaos prints it", text)
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
	case a.Verb == "command" && len(rest) == 4:
		a.Who, a.Joint, a.Mode, a.Value = rest[0], int(number(rest[1])), rest[2], number(rest[3])
	case (a.Verb == "rubbish" || a.Verb == "hang" || a.Verb == "leave") && len(rest) == 1:
		a.Who = rest[0]
	case a.Verb == "fault" && len(rest) > 1:
		a.Joint, a.Fault = int(number(rest[0])), strings.Join(rest[1:], " ")
	case a.Verb == "hand" && len(rest) == 2:
		a.Joint, a.Value = int(number(rest[0])), number(rest[1])
	case a.Verb == "late" && len(rest) == 1:
		a.Value = number(rest[0])
	case (a.Verb == "stop" || a.Verb == "reset" || a.Verb == "arm" || a.Verb == "disarm") && len(rest) == 0:
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

// faults are what may go wrong with a servo; each is over before the quiet end.
var faults = []string{
	"power_loss servo %d", "stuck servo %d", "garbage servo %d", "wrong servo %d by=60", "delayed servo %d by=60ms", "delayed servo %d",
	"stale servo %d", "dropped servo %d", "crc servo %d p=1", "crc servo %d p=0.3", "truncated servo %d p=0.5",
	"truncated bus p=0.3", "crc bus p=0.2", "duplicate_id servo %d", "unplugged bus", "unplugged servo %d", "power_loss bus",
}

// generate makes the schedule of a seed for a robot.
func generate(seed int64, r *robot) (list []Action) {
	dice := rand.New(rand.NewPCG(uint64(seed), 0x68616c79617264))
	last := Length - Quiet
	for at := 5 + dice.IntN(10); at < last; at += 1 + dice.IntN(18) {
		a := Action{At: at, Who: string(rune('a' + dice.IntN(2))), Joint: dice.IntN(len(r.joints))}
		// An operator mostly goes on from where he stopped it.
		later := func(verbs ...string) {
			for k, verb := range verbs {
				if dice.IntN(8) > 0 {
					list = append(list, Action{At: min(at+(k+1)*(2+dice.IntN(15)), last), Verb: verb})
				}
			}
		}
		switch n := dice.IntN(100); {
		case n < 45:
			a.Verb = "command"
			j := r.joints[a.Joint]
			a.Mode = j.modes[dice.IntN(len(j.modes))].String()
			if a.Value = 2*dice.Float64() - 1; dice.IntN(6) == 0 {
				a.Value *= 1e3 // far beyond every limit
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
		case n < 68:
			a.Verb = "reset"
			later("arm")
		case n < 71:
			a.Verb = "arm"
		case n < 74:
			a.Verb = "disarm"
			later("arm")
		case n < 91 && len(r.lines) > 0:
			a.Verb, a.Joint = "fault", dice.IntN(len(r.lines))
			a.Fault = faults[dice.IntN(len(faults))]
			if strings.Contains(a.Fault, "%d") {
				ids := r.lines[a.Joint].ids
				a.Fault = fmt.Sprintf(a.Fault, ids[dice.IntN(len(ids))])
			}
			a.Fault += fmt.Sprintf(" for=%dms", 30+dice.IntN(500))
		case n < 96:
			a.Verb, a.Value = "hand", 1.2*(2*dice.Float64()-1)
			list = append(list, a)
			a.At, a.Value = min(at+5+dice.IntN(40), last), 0
		default:
			a.Verb, a.Value = "late", float64(1+dice.IntN(30))
		}
		list = append(list, a)
	}
	slices.SortStableFunc(list, func(a, b Action) int { return a.At - b.At })
	return list
}
