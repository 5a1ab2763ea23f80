package lerobot

import (
	"fmt"
	"math"
	"strings"
)

// Units are those of the joints of a data set. A gripper has 0 to 100 of its range in both of LeRobot's.
type Units string

// The units.
const (
	Degrees Units = "degrees" // millimetres of a slide
	Range   Units = "range"   // -100 to 100 of the joint's range
	Radians Units = "rad"     // metres of a slide
)

// of converts a position.
func (u Units) of(j *joint, v float64) float64 {
	share := (v - j.Min) / (j.Max - j.Min)
	switch {
	case u == Radians:
		return v
	case strings.HasSuffix(j.Name, "gripper") && j.Min < j.Max:
		return 100 * min(1, max(0, share))
	case u == Range:
		return min(100, max(-100, 200*share-100))
	case j.Slide:
		return 1000 * v
	}
	return v * 180 / math.Pi
}

// frame is one frame of an episode.
type frame struct {
	state, action, sent []float64
	shots               [][]byte // a camera
}

const (
	// staleShot is how old the picture of a frame may be, s.
	staleShot = 0.25
	// maxGap is how long the cycle may have stood still in an episode, s: frames of that time repeat the one before.
	maxGap = 0.1
	// early is how late a sample may be for its frame: the error of times, s.
	early = 1e-6
)

// reel is the frames of an episode, with what is worth telling of them.
type reel struct {
	frames []frame
	notes  []string
	oldest float64 // picture, s
}

// resample makes frames of a take at a rate. An error is why it is left out: a gap.
func resample(t *take, joints []joint, cameras []string, rate float64, units Units) (*reel, error) {
	n := len(t.samples)
	if n < 2 {
		return nil, fmt.Errorf("got %d cycles, want more", n)
	}
	if t.lost > 0 || t.dropped > 0 {
		return nil, fmt.Errorf("the recording lost %d orders and %d cycles in it", t.lost, t.dropped)
	}
	gaps, longest := 0, 0.0
	for i := 1; i < n; i++ {
		gap := t.samples[i].time - t.samples[i-1].time
		if gap > max(maxGap, 1/rate)+early {
			return nil, fmt.Errorf("a gap of %.3f s after %.3f s, want at most %g s", gap,
				t.samples[i-1].time-t.samples[0].time, max(maxGap, 1/rate))
		} else if gap > 1/rate+early {
			gaps, longest = gaps+1, max(longest, gap)
		}
	}
	begin, end := t.samples[0].time, t.samples[n-1].time
	for c, list := range t.shots {
		if len(list) == 0 {
			return nil, fmt.Errorf("camera %s has no picture", cameras[c])
		}
		begin = max(begin, list[0].time)
	}
	r := &reel{}
	if gaps > 0 {
		r.notes = append(r.notes, fmt.Sprintf("%d gaps of up to %.3f s repeat a frame", gaps, longest))
	}
	if late := begin - t.samples[0].time; late > early {
		r.notes = append(r.notes, fmt.Sprintf("begins %.3f s later, with the first picture", late))
	}
	fill := filler{joints: joints, units: units, never: map[int]bool{}}
	at, shown := 0, make([]int, len(t.shots))
	for k := 0; begin+float64(k)/rate <= end+early; k++ {
		now := begin + float64(k)/rate
		for at+1 < n && t.samples[at+1].time <= now+early {
			at++
		}
		f, err := fill.frame(&t.samples[at])
		if err != nil {
			return nil, err
		}
		for c, list := range t.shots {
			for shown[c]+1 < len(list) && list[shown[c]+1].time <= now+early {
				shown[c]++
			}
			s := list[shown[c]]
			age := now - s.time
			if r.oldest = max(r.oldest, age); age > staleShot {
				return nil, fmt.Errorf("camera %s: no picture for %.3f s at %.3f s", cameras[c], age, now-begin)
			}
			f.shots = append(f.shots, s.data)
		}
		r.frames = append(r.frames, f)
	}
	for i := range joints {
		if fill.never[i] {
			r.notes = append(r.notes, joints[i].Name+" was not asked: its action is where it was")
		}
	}
	return r, nil
}

// filler makes frames of samples.
type filler struct {
	joints []joint
	units  Units
	never  map[int]bool // joints that were not asked
}

func (f *filler) frame(s *sample) (out frame, err error) {
	for i := range f.joints {
		j := &f.joints[i]
		if math.IsNaN(s.measured[i]) {
			return out, fmt.Errorf("%s was not measured", j.Name)
		}
		asked := s.asked[i]
		if math.IsNaN(asked) {
			asked, f.never[i] = s.measured[i], true
		}
		sent := s.sent[i]
		if math.IsNaN(sent) {
			sent = s.measured[i]
		}
		out.state = append(out.state, f.units.of(j, s.measured[i]))
		out.action = append(out.action, f.units.of(j, asked))
		out.sent = append(out.sent, f.units.of(j, sent))
	}
	return out, nil
}
