package doctor

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/servo"
)

// ServoCheck is the examination of one servo of any vendor.
type ServoCheck struct {
	*BusCheck
	joint string
	plan  *plan.JointPlan
	id    byte
	model servo.Model        // the value in the config
	tool  servo.Tool         // of that model
	agent int                // of the plan
	cal   *calibration.Joint // nil: none, or none that can be read

	moved     bool       // its calibration was made with another zero offset
	ownSupply bool       // supplied is of its bus or its own
	supplied  float64    // the config's voltage of the robot's supply, V
	limits    [2]float64 // of the joint, rad
	wheel     bool       // the joint turns without end, or takes no positions

	readable bool // it is the right model and mostly answers
	firmware string
	homing   int64   // what its homing register holds, 0 where it has none
	position float64 // ticks, NaN = not read
	delay    time.Duration
	lossy    bool          // some answers were bad, which is a finding
	tick     int64         // its clock at the first glance, ms; -1 = not read
	glanced  time.Duration // the line's time of that
}

func (s *ServoCheck) finding(check, state, found, fix string) Finding {
	id := int(s.id)
	return Finding{Check: check, State: state, Bus: s.Name, ID: &id, Joint: s.joint, Found: found, Fix: fix}
}

func (s *ServoCheck) fail(check string, kind hal.Kind, found, fix string) {
	f := s.finding(check, StateFail, found, fix)
	f.Kind = kind
	s.Found = append(s.Found, f)
}

func (s *ServoCheck) warn(check, found, fix string) {
	s.Found = append(s.Found, s.finding(check, StateWarn, found, fix))
}

// asks is the number of questions by which a servo's answers are judged.
const asks = 20

// Identify checks which servo replies at the id, and how. It returns false if there is no reply; why is for seek to
// find out, with the other silent ones. A servo with any other fault counts as there, and is looked into further
// only where it is the right model and mostly answers: the rest would be consequences.
func (s *ServoCheck) Identify() (there bool, err error) {
	for _, c := range []string{"id", "model", "speed", "answers", "status-return"} {
		s.Check(c)
	}
	m, err := s.ping()
	if errors.Is(err, servo.ErrDisconnected) {
		return false, err
	}
	pinged := err == nil || hal.KindOf(err) == hal.Invalid
	if pinged && s.foreign(m, err) {
		return true, nil
	}
	h, err := s.countAnswers()
	if err != nil {
		return false, err
	}
	if h.silent == h.asked && !pinged {
		pinged = s.tool.Ping(int(s.id)) == nil // to identify one may take reading
	}
	switch {
	case h.silent == h.asked && pinged:
		s.warn("status-return", "it answers pings but no reads: its status return level is 0",
			"halyard serve sets it to 2")
		return true, nil
	case h.silent == h.asked:
		return false, nil
	case 2*h.crossed > h.asked:
		s.double()
		return true, nil
	case 2*h.tardy > h.asked:
		s.fail("speed", hal.BusFault, fmt.Sprintf("its answers come later than %v", patience),
			"look for a program that shares the adapter, or replace the servo")
		return true, nil
	}
	if bad := h.asked - h.clean; bad > 0 {
		if 10*bad > h.asked {
			s.fail("answers", hal.BusFault, h.String(), s.wireFix(&h))
		} else {
			s.warn("answers", h.String(), s.wireFix(&h))
		}
		s.lossy = true
	} else if two, err := s.disagrees(); two || err != nil {
		s.double()
		return true, err
	}
	if s.readable = 2*h.clean >= h.asked; s.readable && !pinged {
		// It was deaf to the pings and receives now: ask again.
		if m, err = s.ping(); (err == nil || hal.KindOf(err) == hal.Invalid) && s.foreign(m, err) {
			s.readable = false
		}
	}
	return true, nil
}

// ping identifies the device at the servo's id. The tool goes on taking it for the value in the config.
func (s *ServoCheck) ping() (m servo.Model, err error) {
	t, err := commission.NewTool(s.line, s.row, servo.ToolConfig{Bus: s.Name, Latency: s.latency})
	if err == nil {
		err = servo.Retry(func() error {
			f, err := t.Identify(int(s.id))
			m = f.Model
			return err
		})
	}
	return m, err
}

// countAnswers asks the servo often for what is known beforehand, and counts the answers by their faults.
func (s *ServoCheck) countAnswers() (answerCount, error) {
	return countAnswers(s.line, s.tool.Question(s.model, int(s.id)), asks, s.latency)
}

// called is the model's name.
func (s *ServoCheck) called() string { return s.model.Units().Name }

func (s *ServoCheck) double() {
	s.fail("id", hal.BusFault, fmt.Sprintf("two servos answer at id %d", s.id),
		fmt.Sprintf("connect only one of them, then: halyard setup %s --id %d --new-id N", s.port(), s.id))
}

// foreign reports whether a servo is of another model than in the config, and adds the finding. m is the model that the
// servo reports, nil if unknown; why is then the reason.
func (s *ServoCheck) foreign(m servo.Model, why error) bool {
	if m != nil && m.Units().Name == s.called() {
		return false
	}
	name := "a model that is not known here"
	var e *hal.Error
	if m != nil {
		name = m.Units().Name
	} else if errors.As(why, &e) && e.Err != nil {
		name, _, _ = strings.Cut(e.Err.Error(), ":")
	}
	s.fail("model", hal.BusFault, fmt.Sprintf("%s, want %s", name, s.called()),
		fmt.Sprintf("change the servo, or set model of %s to %s in the config", s.joint, name))
	return true
}

// wireFix is the usual fix of bad answers: missing ones point to the supply, spoilt ones to the line.
func (s *ServoCheck) wireFix(h *answerCount) string {
	cable := fmt.Sprintf("check the plugs and the cable of id %d, and its distance to motor cables", s.id)
	if h.silent > h.garbled+h.cut {
		return cable + "; measure its supply under load"
	}
	return cable + ", or halve the baud rate"
}

// disagrees reports whether two equal servos answer at once: equal bytes of both arrive intact, their measurements do
// not.
func (s *ServoCheck) disagrees() (bool, error) {
	r := s.model.Register("present_position")
	if r == nil || !commission.Readable(r) {
		return false, nil
	}
	spoilt := 0
	for range servo.Tries {
		if _, err := s.tool.Read(int(s.id), r.Name); hal.KindOf(err) == hal.BusFault {
			spoilt++
		} else if errors.Is(err, servo.ErrDisconnected) {
			return false, err
		}
	}
	return spoilt == servo.Tries, nil
}
