package motion

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestReadMotion(t *testing.T) {
	for _, c := range []struct {
		name, text, fault string
		samples, joints   int
	}{
		{"two samples", "# remark\n0,0.5,-0.5,1,-1\n31,0.6,-0.4,1,-1\n", "", 2, 2},
		{"blank lines and spaces", "\n 0, 0.5 , 1\r\n\n", "", 1, 1},
		{"nothing", "# only a remark\n", "no samples", 0, 0},
		{"even fields", "0,0.5\n", "line 1: fields: got 2", 0, 0},
		{"another number of joints", "0,0.5,1\n5,0.5,0.5,1,1\n", "line 2: joints: got 2, want 1", 0, 0},
		{"time stands still", "5,0,1\n5,0,1\n", "line 2: time", 0, 0},
		{"time before the start", "-5,0,1\n", "line 1: time", 0, 0},
		{"no number", "0,x,1\n", `line 1: field 2: got "x"`, 0, 0},
		{"not finite", "0,NaN,1\n", "line 1: field 2", 0, 0},
		{"infinite time", "Inf,0,1\n", "line 1: field 1", 0, 0},
		{"a line without end", "0," + strings.Repeat("9", 70<<10), "token too long", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := ReadMotion(strings.NewReader(c.text))
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) {
					t.Fatalf("got %v, want a fault with %q", err, c.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Samples) != c.samples || m.Joints != c.joints {
				t.Errorf("got %d samples of %d joints, want %d of %d", len(m.Samples), m.Joints, c.samples, c.joints)
			}
		})
	}
}

// The embedded motions start and end at rest and never ask for more than a servo can do.
func TestEmbeddedMotions(t *testing.T) {
	for _, joints := range []int{1, 6, 18, 21} {
		m, err := OpenMotion("wave", joints)
		if err != nil {
			t.Fatal(err)
		}
		last := m.Samples[len(m.Samples)-1]
		for i := range joints {
			if m.Samples[0].Angle[i] != 0 || math.Abs(last.Angle[i]) > 1e-9 {
				t.Errorf("wave for %d: joint %d: from %g to %g, want rest at 0", joints, i, m.Samples[0].Angle[i],
					last.Angle[i])
			}
			for k := 1; k < len(m.Samples); k++ {
				a, b := m.Samples[k-1], m.Samples[k]
				if v := math.Abs(b.Angle[i]-a.Angle[i]) * math.Pi / (b.At - a.At).Seconds(); v > 4 {
					t.Errorf("wave for %d: joint %d at %v: %g rad/s, want at most 4", joints, i, b.At, v)
				}
			}
		}
		if last.At < 5*time.Second {
			t.Errorf("wave for %d: lasts %v", joints, last.At)
		}
	}
	if _, err := OpenMotion("wave", 3); err == nil {
		t.Error("wave for 3 joints: found, want a fault that names what to do")
	}
}

func TestRecordedMotion(t *testing.T) {
	path := sharedData(t, "a-series/motion-1.txt")
	m, err := OpenMotion(path, 21)
	if err != nil {
		t.Fatal(err)
	}
	if m.Joints != 21 || len(m.Samples) < 1000 {
		t.Errorf("got %d samples of %d joints", len(m.Samples), m.Joints)
	}
}

// sharedData is the path of a recording beside the repository; the test is skipped where it is absent.
func sharedData(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "data", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("recording absent: %s", name)
	}
	return path
}

func FuzzReadMotion(f *testing.F) {
	f.Add("# remark\n0,0.5,-0.5,1,-1\n31,0.6,-0.4,1,-1\n")
	f.Add("1e300,NaN,1\n,,,\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ReadMotion(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, s := range m.Samples {
			if len(s.Angle) != m.Joints || len(s.Torque) != m.Joints {
				t.Fatalf("a sample of %d angles and %d torques, want %d", len(s.Angle), len(s.Torque), m.Joints)
			}
		}
	})
}
