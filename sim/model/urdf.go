package model

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// URDFOptions holds the data that a URDF lacks. The zero value is an arm on a table, with ideal motors and without meshes.
type URDFOptions struct {
	Floating bool              // the root link moves freely; else it is fixed to the world
	Servos   map[string]string // joint -> servo model; joints that are not named get an ideal motor of the file's limits
	Supply   Supply            // of the servos; 12 V where it is zero
	// Open opens a collision mesh by the name that the file gives it, "package://arm/meshes/base.stl". Nil: there are no meshes.
	Open func(name string) (io.ReadCloser, error)

	boxes map[string][2]vec // around the meshes that were read, by name: the lowest and the highest corner
	read  int64             // bytes of meshes
}

// The XML of a URDF for bodies and joints; elements for control and sensors are ignored.
type urdfFile struct {
	XMLName xml.Name    `xml:"robot"`
	Name    string      `xml:"name,attr"`
	Links   []urdfLink  `xml:"link"`
	Joints  []urdfJoint `xml:"joint"`
}

type urdfLink struct {
	Name      string          `xml:"name,attr"`
	Inertial  []urdfInertial  `xml:"inertial"`
	Collision []urdfCollision `xml:"collision"`
	Visual    []urdfCollision `xml:"visual"`
}

type urdfInertial struct {
	Origin  *urdfOrigin  `xml:"origin"`
	Mass    *urdfValue   `xml:"mass"`
	Inertia *urdfInertia `xml:"inertia"`
}

type urdfInertia struct {
	XX string `xml:"ixx,attr"`
	YY string `xml:"iyy,attr"`
	ZZ string `xml:"izz,attr"`
	XY string `xml:"ixy,attr"`
	XZ string `xml:"ixz,attr"`
	YZ string `xml:"iyz,attr"`
}

type urdfValue struct {
	Value string `xml:"value,attr"`
}

type urdfOrigin struct {
	XYZ string `xml:"xyz,attr"`
	RPY string `xml:"rpy,attr"`
}

type urdfCollision struct {
	Origin   *urdfOrigin `xml:"origin"`
	Geometry struct {
		Box *struct {
			Size string `xml:"size,attr"`
		} `xml:"box"`
		Sphere   *urdfRound `xml:"sphere"`
		Cylinder *urdfRound `xml:"cylinder"`
		Capsule  *urdfRound `xml:"capsule"`
		Mesh     *struct {
			File  string `xml:"filename,attr"`
			Scale string `xml:"scale,attr"`
		} `xml:"mesh"`
	} `xml:"geometry"`
}

type urdfRound struct {
	Radius string `xml:"radius,attr"`
	Length string `xml:"length,attr"`
}

type urdfJoint struct {
	Name   string      `xml:"name,attr"`
	Type   string      `xml:"type,attr"`
	Origin *urdfOrigin `xml:"origin"`
	Parent struct {
		Link string `xml:"link,attr"`
	} `xml:"parent"`
	Child struct {
		Link string `xml:"link,attr"`
	} `xml:"child"`
	Axis *struct {
		XYZ string `xml:"xyz,attr"`
	} `xml:"axis"`
	Limit *struct {
		Lower    string `xml:"lower,attr"`
		Upper    string `xml:"upper,attr"`
		Effort   string `xml:"effort,attr"`
		Velocity string `xml:"velocity,attr"`
	} `xml:"limit"`
	Dynamics *struct {
		Damping  string `xml:"damping,attr"`
		Friction string `xml:"friction,attr"`
	} `xml:"dynamics"`
	Mimic *struct {
		Joint      string `xml:"joint,attr"`
		Multiplier string `xml:"multiplier,attr"`
		Offset     string `xml:"offset,attr"`
	} `xml:"mimic"`
}

// LoadURDF reads a URDF file. If o has no Open, meshes are searched next to the file: see Meshes.
func LoadURDF(path string, o URDFOptions) (*Robot, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "urdf", Err: err}
	}
	if o.Open == nil {
		o.Open = Meshes(filepath.Dir(path), nil)
	}
	r, err := ParseURDF(b, o)
	if err == nil {
		r.Folder = filepath.Dir(path)
	}
	return r, err
}

// maxURDF bounds a URDF, bytes.
const maxURDF = 4 << 20

// ParseURDF reads a URDF, of at most 4 MiB, in its zero pose: revolute, continuous, prismatic, fixed and mimic joints,
// and a floating one at the root. Links connected by fixed joints become one body, named after the one nearest to the root.
// Collision meshes, STL or OBJ, become boxes fitted to them; a <visual> changes only Body.Looks, and has no faults. A joint without motor limits (a continuous one without <limit>) is passive.
// All faults are reported together, as an error of kind hal.Invalid.
func ParseURDF(b []byte, o URDFOptions) (*Robot, error) {
	faults := faults{&yaml.Document{Source: "urdf"}}
	var f urdfFile
	if len(b) > maxURDF {
		faults.add("", "got %d bytes, want at most %d", len(b), maxURDF)
	} else if err := xml.Unmarshal(b, &f); err != nil {
		faults.add("", "%v", err)
	} else if bytes.Contains(b, []byte("<xacro:")) {
		faults.add("", "got xacro macros, want the URDF that xacro makes of them")
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return yaml.Valid(faults.Document, f.robot(&o, &faults))
}

// Unmatched compares the joints of a robot that motors move with the names that a config has for them: missing are the
// robot's that are not in names, unknown the names that the robot does not have, both in their own order.
func Unmatched(r *Robot, names []string) (missing, unknown []string) {
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
		if r.Joint(name) == hal.None {
			unknown = append(unknown, name)
		}
	}
	for i := range r.Joints {
		if !known[r.Joints[i].Name] {
			missing = append(missing, r.Joints[i].Name)
		}
	}
	return missing, unknown
}

// real reads a number; "" is otherwise where the attribute may be left out, NaN where it may not.
func (f *faults) real(path yaml.Path, text string, otherwise float64) float64 {
	text = strings.TrimSpace(text)
	if text == "" {
		if math.IsNaN(otherwise) {
			f.add(path, "got nothing, want a number")
			return 0
		}
		return otherwise
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		f.add(path, "got %q, want a number", text)
		return 0
	}
	return x
}

// reals reads three numbers; "" is otherwise.
func (f *faults) reals(path yaml.Path, text string, otherwise vec) vec {
	words := strings.Fields(text)
	if len(words) == 0 {
		return otherwise
	}
	if len(words) != 3 {
		f.add(path, "got %q, want three numbers", text)
		return otherwise
	}
	var v vec
	for i := range v {
		v[i] = f.real(path, words[i], math.NaN())
		if math.Abs(v[i]) > maxLength {
			f.add(path, "got %q, want numbers of at most %g", text, maxLength)
			return otherwise
		}
	}
	return v
}

// pose reads an <origin>.
func (o *urdfOrigin) pose(path yaml.Path, faults *faults) hal.Pose {
	if o == nil {
		return hal.Pose{Rotation: [4]float64{1}}
	}
	rpy := faults.reals(path+".origin.rpy", o.RPY, vec{})
	return hal.Pose{
		Position: faults.reals(path+".origin.xyz", o.XYZ, vec{}),
		Rotation: rollPitchYaw(rpy[0], rpy[1], rpy[2]),
	}
}
