package manual

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Pose is positions of joints, saved under a name.
type Pose struct {
	Body   string            `yaml:"body"`
	Joints map[string]string `yaml:"joints"` // JOINT or AGENT/JOINT: "0.5236rad", "0.04m"
}

// PoseRow is a saved pose of a list.
type PoseRow struct {
	Pose   string `json:"pose"`
	File   string `json:"file"`
	Joints int    `json:"joints"`
}

// Cells implements report.Row.
func (p PoseRow) Cells() report.Cells {
	return report.Cells{{"pose", p.Pose}, {"file", p.File}, {"joints", p.Joints}}
}

var goodName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// CheckName refuses what is no name of a pose or motion: it is the name of a file.
func CheckName(name string) error {
	if goodName.MatchString(name) {
		return nil
	}
	return &hal.Error{Kind: hal.Invalid, Op: "name", Err: fmt.Errorf("got %.80q, want letters, digits, - and _", name)}
}

func poseFile(folder, name string) string { return filepath.Join(folder, "poses", name+".yaml") }

// MotionFile is where the motion called name is, beside the config in folder.
func MotionFile(folder, name string) string { return filepath.Join(folder, "motions", name+".csv") }

// SavedJoint is a joint of a pose.
type SavedJoint struct {
	Agent    string        `json:"agent"`
	Joint    string        `json:"joint"`
	Position report.Number `json:"position"`
	Unit     string        `json:"unit"` // rad or m
}

// Cells implements report.Row.
func (s SavedJoint) Cells() report.Cells {
	return report.Cells{{"agent", s.Agent}, {"joint", s.Joint},
		{"position", report.Value{Number: s.Position, Unit: s.Unit}}}
}

// SavePose writes what Watch reports as the pose called name.
func SavePose(folder, name string, joints []Joint) (file string, saved []SavedJoint, err error) {
	if err := CheckName(name); err != nil {
		return "", nil, err
	}
	var b bytes.Buffer
	several := slices.ContainsFunc(joints, func(j Joint) bool { return j.Agent != joints[0].Agent })
	fmt.Fprintf(&b, "# Positions of joints: halyard pose go %s\n", name)
	if len(joints) > 0 {
		fmt.Fprintf(&b, "body: %s\n", joints[0].Body)
	}
	fmt.Fprintln(&b, "joints:")
	for _, j := range joints {
		at := j.Joint
		if several {
			at = j.Agent + "/" + at
		}
		if math.IsNaN(float64(j.Position)) {
			return "", nil, &hal.Error{Kind: hal.Timeout, Joint: at, Op: "pose save",
				Err: errors.New("its position is not known"),
				Try: "halyard doctor"}
		}
		saved = append(saved, SavedJoint{j.Agent, j.Joint, j.Goal, j.Unit})
		fmt.Fprintf(&b, "  %s: %q\n", strconv.Quote(at), strconv.FormatFloat(float64(j.Goal), 'f', 5, 64)+j.Unit)
	}
	if len(saved) == 0 {
		return "", nil, &hal.Error{Kind: hal.Invalid, Op: "pose save", Err: errors.New("got no joint with a position")}
	}
	file = poseFile(folder, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", nil, &hal.Error{Kind: hal.Busy, Op: "pose save", Err: err}
	}
	return file, saved, yaml.WriteFile(file, b.Bytes())
}

// LoadPose reads the pose called name.
func LoadPose(folder, name string) (*Pose, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	file := poseFile(folder, name)
	data, err := yaml.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		var names []string
		list, _ := Poses(folder)
		for _, p := range list {
			names = append(names, p.Pose)
		}
		have := "no pose is saved"
		if len(names) > 0 {
			have = "want one of " + strings.Join(names, ", ")
		}
		return nil, &hal.Error{Kind: hal.Invalid, Op: "pose " + name, Err: fmt.Errorf("%s not found; %s", file, have),
			Try: "halyard pose save " + name}
	} else if err != nil {
		return nil, &hal.Error{Kind: hal.Busy, Op: "pose " + name, Err: err}
	}
	p := &Pose{}
	d, _ := yaml.Decode(data, file, p)
	return yaml.Valid(d, p)
}

// Goals are the positions as goals of a request.
func (p *Pose) Goals() map[string]string { return p.Joints }

// Poses lists the saved poses.
func Poses(folder string) ([]PoseRow, error) {
	list := []PoseRow{}
	files, err := filepath.Glob(poseFile(folder, "*"))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if p, err := LoadPose(folder, name); err == nil {
			list = append(list, PoseRow{name, file, len(p.Joints)})
		}
	}
	return list, err
}

// SaveMotion writes m to file, angles and lengths in units u.
func SaveMotion(file string, m *Motion, u report.Units, slides map[string]bool) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return &hal.Error{Kind: hal.Busy, Op: "save motion", Err: err}
	}
	var b bytes.Buffer
	if err := m.Write(&b, u, slides); err != nil {
		return err
	}
	return yaml.WriteFile(file, b.Bytes())
}

// LoadMotion reads the motion in file.
func LoadMotion(file string) (*Motion, error) {
	f, err := os.Open(file)
	if err != nil {
		name := strings.TrimSuffix(filepath.Base(file), ".csv")
		return nil, &hal.Error{Kind: hal.Invalid, Op: "motion " + name, Err: err, Try: "halyard teach " + name}
	}
	defer f.Close()
	m, err := Read(f)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "motion " + file, Err: err}
	}
	return m, nil
}
