package sim

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

const recordings = "../../shared/data/simloid"

// recording is one of the original's runs: a status a cycle, of which the joint angles count here.
type recording struct {
	file   string
	robot  int
	inputs func(r *rig, k int)
}

func voltage(r *rig, i int, u float64) {
	r.frame.Inputs[r.body.Layout().Actuators[i].Goal[hal.DutyMode]] = u
}

func angle(r *rig, i int, share float64) {
	a := &r.body.Layout().Actuators[i]
	r.frame.Inputs[a.Goal[hal.PositionMode]] = share * math.Pi
	if in := a.Goal[hal.DutyMode]; in != hal.None {
		r.frame.Inputs[in] = math.NaN()
	}
}

func newSimloid(t testing.TB, id int, substep time.Duration) *rig {
	m, err := model.LoadSimloid(id)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Scene: NewScene(SceneConfig{Seed: 1, Substep: substep}), t: t}
	if r.body, err = r.Add("robot", m, hal.Pose{}); err != nil {
		t.Fatal(err)
	}
	r.frame = hal.NewFrame(r.body.Layout())
	r.enable(true)
	for i := range r.body.Layout().Actuators { // as a session begins
		r.frame.Inputs[r.body.Layout().Actuators[i].TorqueLimit] = m.Joints[i].Motor.StartTorque * m.Joints[i].MaxTorque()
	}
	return r
}

// stand holds the defaults, or the built pose, with all torque.
func stand(built bool) func(r *rig, k int) {
	return func(r *rig, k int) {
		for i := range r.body.joints {
			m := r.body.joints[i].Model
			at := m.Default / math.Pi
			if built {
				at = 0
			}
			angle(r, i, at)
			r.frame.Inputs[r.body.Layout().Actuators[i].TorqueLimit] = m.MaxTorque()
		}
	}
}

func readRecording(t *testing.T, name string) (angles [][]float64) {
	f, err := os.Open(filepath.Join(recordings, name))
	if err != nil {
		t.Skipf("no recordings here: %v", err)
	}
	defer f.Close()
	joints := 0
	for in := bufio.NewScanner(f); in.Scan(); {
		words := strings.Fields(in.Text())
		if len(words) > 0 && words[0] == "#" {
			if len(words) > 4 {
				joints++
			}
			continue
		}
		row := make([]float64, joints)
		for i := range row {
			v, err := strconv.ParseFloat(words[1+i], 64)
			if err != nil {
				t.Fatal(err)
			}
			row[i] = v * math.Pi
		}
		angles = append(angles, row)
	}
	return angles
}

func TestSimloidRecordings(t *testing.T) {
	for _, c := range []recording{
		{"90-free-swing.txt", 90, func(r *rig, k int) {
			u := 0.0
			if k < 100 {
				u = 0.5
			}
			voltage(r, 0, u)
		}},
		{"90-voltage-steps.txt", 90, func(r *rig, k int) {
			voltage(r, 0, [...]float64{0.2, -0.2, 0.6, -0.6, 1, -1}[min(k/100, 5)])
		}},
		{"90-pid-steps.txt", 90, func(r *rig, k int) {
			angle(r, 0, [...]float64{0.25, -0.25, 0.5, 0}[min(k/150, 3)])
		}},
		{"91-voltage-sine.txt", 91, func(r *rig, k int) {
			voltage(r, 0, math.Round(0.6*math.Sin(0.03*float64(k))*1e4)/1e4)
			voltage(r, 1, math.Round(0.4*math.Sin(0.05*float64(k))*1e4)/1e4)
		}},
		{"31-drop-limp.txt", 31, func(r *rig, k int) {
			for i := range r.body.joints {
				voltage(r, i, 0)
			}
		}},
		{"31-stand.txt", 31, stand(false)},
		{"50-stand.txt", 50, stand(true)},
	} {
		t.Run(strings.TrimSuffix(c.file, ".txt"), func(t *testing.T) {
			want := readRecording(t, c.file)
			for _, substep := range []time.Duration{10 * time.Millisecond, time.Millisecond} {
				c.compare(t, want, substep)
			}
		})
	}
}

// compare runs the recording's commands and reports how far the joints are from where the original's were.
func (c *recording) compare(t *testing.T, want [][]float64, substep time.Duration) {
	r := newSimloid(t, c.robot, substep)
	n := len(want[0])
	sum, all, greatest := make([]float64, n), 0.0, 0.0
	r.cycle(1) // the original has made a step before it takes commands
	for k := range want {
		for i := range n {
			e := math.Remainder(r.body.joints[i].position()-want[k][i], 2*math.Pi)
			sum[i] += e * e
			all += e * e
			greatest = math.Max(greatest, math.Abs(e))
		}
		c.inputs(r, k)
		r.cycle(1)
	}
	worst := 0.0
	for i := range sum {
		worst = math.Max(worst, math.Sqrt(sum[i]/float64(len(want))))
	}
	rms := math.Sqrt(all / float64(n*len(want)))
	t.Logf("steps of %v: %d joints over %d cycles: RMS %.4f rad, that of the worst joint %.4f, greatest error %.4f",
		substep, n, len(want), rms, worst, greatest)
	// Steps finer than the original's do not make its errors. What it was is its noise, 0.0015 rad, and its contacts.
	if !(rms <= 0.05) && substep == 10*time.Millisecond {
		t.Errorf("steps of %v: RMS: got %.4f rad, want at most 0.05", substep, rms)
	}
}
