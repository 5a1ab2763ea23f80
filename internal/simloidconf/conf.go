// Package simloidconf reads simloid.conf, the file that the original Simloid was set up by.
package simloidconf

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Conf is the settings of a simloid.conf, with the original's defaults.
//
//	tcp_port   8000        # where clients connect
//	robot      31
//	scene      0
//	step_length 0.01       # s
//
// One parameter per line, its name and its value with blanks between them; # begins a comment. The last value of a
// repeated parameter applies, as in the original. True is yes, on, true or 1; any other word is false.
type Conf struct {
	Port, Robot, Scene int
	Step               time.Duration
	MaxTorque          float64    // 0.001..1, the greatest torque of the position controllers at the start
	PID                [3]float64 // of the position controllers
}

// Original is the original without a simloid.conf.
func Original() Conf {
	return Conf{Port: 8000, Robot: 31, Step: 10 * time.Millisecond, MaxTorque: 0.5, PID: [3]float64{3.5, 0, 0.1}}
}

// maxConf bounds a simloid.conf, bytes; the original writes 3000.
const maxConf = 1 << 16

// Parse reads a simloid.conf into c. Parameters of the original without a meaning here are ignored; notes list the
// unknown ones. All bad lines are in one error of kind hal.Invalid.
func Parse(name string, data []byte, c *Conf) (notes []string, err error) {
	if len(data) > maxConf {
		return nil, &hal.Error{Kind: hal.Invalid, Op: name, Err: fmt.Errorf("got %d bytes, want at most %d", len(data),
			maxConf)}
	}
	var faults []error
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		text, _, _ := strings.Cut(line, "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		fault := func(got, want string) {
			faults = append(faults, &hal.Error{Kind: hal.Invalid,
				Op:  fmt.Sprintf("%s:%d: %.40q", name, number, words[0]),
				Err: fmt.Errorf("got %.40q, want %s", got, want)})
		}
		if len(words) < 2 {
			fault("nothing", "a value")
			continue
		}
		switch known, want := c.Set(words[0], words[1]); {
		case want != "":
			fault(words[1], want)
		case !known && !slices.Contains(passedOver, words[0]):
			notes = append(notes, fmt.Sprintf("%s:%d: no such parameter: %.40q", name, number, words[0]))
		}
	}
	return notes, errors.Join(faults...)
}

// passedOver are the original's parameters of its window, its solver and its speed: here time advances when the client
// requests a step, and nothing is drawn. Regardless of initial_gravity, the original begins without, until GRAVITY ON.
var passedOver = []string{"real_time", "initial_pause", "initial_gravity", "contact_soft_ERP", "contact_soft_CFM",
	"show_aabb", "show_contacts", "show_joints", "show_accels", "show_cam_position", "show_time_stat",
	"disable_graphics", "fps", "use_fps_control", "window_width", "window_height", "record_frames"}

// Set sets one parameter. known is false for an unknown name; want describes the valid values after an invalid one.
func (c *Conf) Set(name, value string) (known bool, want string) {
	switch name {
	case "tcp_port":
		return true, whole(value, 0, 65535, &c.Port)
	case "robot":
		return true, whole(value, 0, 999, &c.Robot)
	case "scene":
		return true, whole(value, 0, 999, &c.Scene)
	case "step_length", "stepLength": // the second one up to 2015
		var seconds float64
		if want := decimal(value, 100e-6, 1, &seconds); want != "" {
			return true, want + " s"
		}
		c.Step = time.Duration(math.Round(seconds*1e6)) * time.Microsecond
		return true, ""
	case "init_max_torque", "initialMaxTorque":
		return true, decimal(value, 0.001, 1, &c.MaxTorque)
	case "pidP", "pidI", "pidD":
		return true, decimal(value, 0, 1000, &c.PID[strings.IndexByte("PID", name[3])])
	}
	return false, ""
}

// whole reads an integer from low to high into to, or returns a description of the valid values.
func whole(text string, low, high int, to *int) (want string) {
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return fmt.Sprintf("%d..%d", low, high)
	}
	*to = n
	return ""
}

// decimal reads a number from low to high.
func decimal(text string, low, high float64, to *float64) (want string) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= low && x <= high) {
		return fmt.Sprintf("%g..%g", low, high)
	}
	*to = x
	return ""
}
