package assembly

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// The orders of halyard hand: the actions of a person at the bench on the joints of emulated robots, and their state.

// HandSocket is the name of the socket on which a served emulator receives the orders of halyard hand, in its folder of
// links.
const HandSocket = ".hand"

// HandHelp lists the orders of Hand.
const HandHelp = `  look                      list every joint: position, ticks, torque, action of the hand
  registers JOINT           list the registers of its servo
  move JOINT RAD [SECONDS]  turn it to RAD in SECONDS (0.5), and hold it
  push JOINT RAD [SECONDS]  turn it by RAD in SECONDS (0.5), and release it
  hold JOINT                hold it where it is
  release JOINT|all         release it
  unplug JOINT, plug JOINT  unplug its servo, and plug it in again
  fault TEXT, heal          inject a fault (docs/faults.md), and end all faults`

// HandAnswer is the result of an order.
type HandAnswer struct {
	Error     string         `json:"error,omitempty"`
	Note      string         `json:"note,omitempty"`
	Joints    []HandJoint    `json:"joints,omitempty"`
	Registers []HandRegister `json:"registers,omitempty"`
}

// HandJoint is one emulated joint as an eye sees it.
type HandJoint struct {
	Joint    string        `json:"joint"` // AGENT/JOINT
	Bus      string        `json:"bus"`
	ID       int64         `json:"id"`
	Model    string        `json:"model"`
	Position report.Number `json:"position_rad"`
	Ticks    int64         `json:"ticks"`
	Torque   bool          `json:"torque_on"`
	Effort   report.Number `json:"torque_nm"`
	Hand     string        `json:"hand"` // "", "moves", "holds"
	Plugged  bool          `json:"plugged"`
}

func (h HandJoint) Cells() report.Cells {
	torque := map[bool]string{true: "on", false: "off"}[h.Torque]
	if !h.Plugged {
		torque = "unplugged"
	}
	return report.Cells{{"joint", h.Joint}, {"bus", h.Bus}, {"id", h.ID}, {"model", h.Model}, {"pos rad", h.Position},
		{"ticks", h.Ticks}, {"torque", torque}, {"N·m", h.Effort}, {"hand", h.Hand}}
}

// HandRegister is one register of a servo.
type HandRegister struct {
	Name  string `json:"register"`
	Value int64  `json:"value"`
}

func (r HandRegister) Cells() report.Cells {
	return report.Cells{{"register", r.Name}, {"value", r.Value}}
}

// held is a joint in the hand. Under the world's lock.
type held struct {
	handed
	from, to       float64 // rad
	passed, lasts  time.Duration
	released, done bool // release it at the end; it has arrived
}

// advance moves the hand by dt.
func (h *held) advance(dt time.Duration) {
	h.passed = min(h.passed+dt, h.lasts)
	share, speed := 1.0, 0.0
	if h.lasts > 0 {
		share = float64(h.passed) / float64(h.lasts)
		// Slow at both ends, as a hand.
		speed = (h.to - h.from) / h.lasts.Seconds() * 6 * share * (1 - share)
		share *= share * (3 - 2*share)
	}
	if h.done = h.passed >= h.lasts; h.done {
		share, speed = 1, 0
	}
	h.body.Hand(h.index, h.from+share*(h.to-h.from), speed)
}

// handed is one joint that a hand can move.
type handed struct {
	name  string
	bus   emulatedBus
	servo *emulator.Servo // nil = it is simulated
	body  *sim.Body
	index int
}

// position is where the joint is, rad or m.
func (j handed) position() float64 {
	if j.servo == nil {
		_, at := j.body.Load(j.index)
		return at
	}
	return j.servo.Act.Position
}

// view calls f with the servo while its bus is locked.
func (j handed) view(f func(*emulator.Servo)) {
	if j.servo == nil {
		return
	}
	j.bus.Bus.View(func(s *emulator.Servo) {
		if s == j.servo {
			f(s)
		}
	})
}

// handled lists the emulated joints with servos, and the simulated ones of leaders.
func (w *EmulatedWorld) handled() (list []handed) {
	for _, b := range w.Buses {
		for i, h := range b.on {
			list = append(list, handed{w.plan.JointName(h), b, b.Bus.Servos()[i],
				w.Scene.Body(w.plan.Agents[h.Agent].Config.Name), h.Joint})
		}
	}
	for a := range w.plan.Agents {
		if of := &w.plan.Agents[a]; of.Config.Guard.Passive {
			for i := range of.Layout.Actuators {
				if of.Config.BodyOf(of.Layout.Actuators[i].Name) == configs.Sim {
					list = append(list, handed{name: w.plan.JointName(plan.JointRef{Agent: a, Joint: i}),
						body: w.Scene.Body(of.Config.Name), index: i})
				}
			}
		}
	}
	return list
}

// joint finds one by AGENT/JOINT, or JOINT where one agent has it.
func (w *EmulatedWorld) joint(name string) (handed, error) {
	var hits []handed
	var names []string
	for _, h := range w.handled() {
		_, short, _ := strings.Cut(h.name, "/")
		if names = append(names, short); h.name == name || short == name {
			hits = append(hits, h)
		}
	}
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		return handed{}, fmt.Errorf("got joint %q, want one of %s; %s", name, strings.Join(names, ", "),
			catalog.LikelyOr(name, names, "halyard hand DIR lists them"))
	}
	return handed{}, fmt.Errorf("got joint %q, which %d agents have, want AGENT/JOINT", name, len(hits))
}

// Hand executes one order of HandHelp.
func (w *EmulatedWorld) Hand(order string) HandAnswer {
	a, err := w.hand(strings.Fields(order))
	if err != nil {
		a.Error = (&hal.Error{Kind: hal.Invalid, Op: "hand", Err: err}).Error()
	}
	return a
}

func (w *EmulatedWorld) hand(words []string) (a HandAnswer, err error) {
	if len(words) == 0 {
		words = []string{"look"}
	}
	verb, rest := words[0], words[1:]
	unknown := fmt.Errorf("got %q, want an order:\n%s", strings.Join(words, " "), HandHelp)
	switch {
	case verb == "look" && len(rest) == 0:
		return w.look(), nil
	case verb == "fault" && len(rest) > 0:
		return HandAnswer{Note: "planted: " + strings.Join(rest, " ")}, w.Plant(strings.Join(rest, " "))
	case verb == "heal" && len(rest) == 0:
		for _, b := range w.Buses {
			b.Bus.ClearFaults()
		}
		return HandAnswer{Note: "all faults are ended"}, nil
	case verb == "release" && len(rest) == 1 && rest[0] == "all":
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, h := range w.hands {
			w.release(h.handed)
		}
		return HandAnswer{Note: "all joints are released"}, nil
	case len(rest) == 0:
		return a, unknown
	}
	j, err := w.joint(rest[0])
	if err != nil {
		return a, err
	}
	switch n := len(rest); {
	case j.servo == nil && (verb == "registers" || verb == "plug" || verb == "unplug"):
		return a, fmt.Errorf("got %s, want a joint with an emulated servo: it is simulated", j.name)
	case verb == "registers" && n == 1:
		j.view(func(s *emulator.Servo) {
			s.Measure()
			for i := range s.Table {
				r := &s.Table[i]
				a.Registers = append(a.Registers, HandRegister{r.Name, r.Decode(s.Bytes[r.Addr:])})
			}
		})
	case (verb == "plug" || verb == "unplug") && n == 1:
		j.bus.Bus.Plug(j.servo, verb == "plug")
		a.Note = j.name + " is " + verb + "ged"
	case verb == "hold" && n == 1:
		a.Note = w.grip(j, 0, false, 0, false)
	case verb == "release" && n == 1:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.release(j)
		a.Note = j.name + " is released"
	case (verb == "move" || verb == "push") && (n == 2 || n == 3):
		to, lasts, err := motion(rest[1:])
		if err != nil {
			return a, err
		}
		a.Note = w.grip(j, to, verb == "move", lasts, verb == "push")
	default:
		err = unknown
	}
	return a, err
}

// motion parses RAD [SECONDS].
func motion(words []string) (to float64, lasts time.Duration, err error) {
	seconds := 0.5
	to, err = strconv.ParseFloat(words[0], 64)
	if err == nil && len(words) == 2 {
		seconds, err = strconv.ParseFloat(words[1], 64)
	}
	if err != nil || math.Abs(to) > 100 || math.IsNaN(to) || !(seconds >= 0 && seconds <= 60) {
		return 0, 0, fmt.Errorf("got %q, want RAD [SECONDS], at most 100 rad and 60 s", strings.Join(words, " "))
	}
	return to, time.Duration(seconds * float64(time.Second)), nil
}

// grip starts to move a joint: to is absolute, or relative to its position. The model's stops limit the motion.
func (w *EmulatedWorld) grip(j handed, to float64, absolute bool, lasts time.Duration, release bool) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	from := j.position()
	if !absolute {
		to += from
	}
	if l := j.body.Layout().Actuators[j.index]; !l.Wraps {
		to = math.Min(l.Limits.MaxPosition, math.Max(l.Limits.MinPosition, to))
	}
	if w.hands == nil {
		w.hands = map[string]*held{}
	}
	w.hands[j.name] = &held{handed: j, from: from, to: to, lasts: lasts, released: release}
	switch {
	case release:
		return fmt.Sprintf("%s is pushed from %.3f to %.3f rad and released", j.name, from, to)
	case lasts == 0:
		return fmt.Sprintf("%s is held at %.3f rad", j.name, to)
	}
	return fmt.Sprintf("%s is moved from %.3f to %.3f rad in %v and held", j.name, from, to, lasts)
}

// moveHands moves all hands by dt. Under the lock.
func (w *EmulatedWorld) moveHands(dt time.Duration) {
	for _, h := range w.hands {
		if h.done && h.released { // the scene has moved since
			w.release(h.handed)
		} else {
			h.advance(dt)
		}
	}
}

// release takes the hand off a joint. Under the lock.
func (w *EmulatedWorld) release(j handed) {
	delete(w.hands, j.name)
	j.body.Hand(j.index, math.NaN(), 0)
}

// look lists the state of all joints.
func (w *EmulatedWorld) look() (a HandAnswer) {
	for _, j := range w.handled() {
		row := HandJoint{Joint: j.name, Bus: j.bus.name, Plugged: true}
		grip := func() {
			if h := w.hands[j.name]; h != nil {
				row.Hand = map[bool]string{true: "holds", false: "moves"}[h.done]
			}
		}
		if j.servo == nil {
			w.mu.Lock()
			row.Position = report.Number(j.position())
			grip()
			w.mu.Unlock()
			a.Joints = append(a.Joints, row)
			continue
		}
		row.Model = j.servo.Name()
		j.view(func(s *emulator.Servo) {
			row.ID, _ = s.Register("id")
			row.Ticks, _ = s.Register("present_position")
			row.Position, row.Torque, row.Effort = report.Number(s.Act.Position), s.Act.Enable,
				report.Number(s.Act.Torque)
			row.Plugged = !s.Dark
			grip() // the buses share the world's lock
		})
		a.Joints = append(a.Joints, row)
	}
	return a
}
