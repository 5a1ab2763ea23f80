package model

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/mesh"
	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// Look is a solid that is drawn in place of shapes of the physics: a <visual> of a URDF, or the mesh of a hull.
type Look struct {
	Shape Shape      // where it is in the body's frame; its kind and size, unless Mesh is set
	Mesh  string     // the file, as the URDF names it; "" = Shape
	Scale [3]float64 // of the mesh; a negative one mirrors
	// First and End bound the part of Body.Shapes that it is drawn for, which all its other looks are drawn for too.
	First, End int
}

// Meshes counts the looks of the robot that are meshes.
func (r *Robot) Meshes() (n int) {
	for i := range r.Bodies {
		for k := range r.Bodies[i].Looks {
			if r.Bodies[i].Looks[k].Mesh != "" {
				n++
			}
		}
	}
	return n
}

// look is a solid to draw for the shapes from first to end; ok is false where it cannot be drawn.
func (p *solidPart) look(first, end int) (l Look, ok bool) {
	l = Look{Shape: p.shape, First: first, End: end}
	if p.mesh != "" {
		l.Mesh, l.Scale = p.mesh, p.scale
		l.Shape.Pose = p.placed()
		l.Shape.Kind, l.Shape.Hull = Box, nil
		return l, mesh.Readable(p.mesh) == nil && p.scale[0]*p.scale[1]*p.scale[2] != 0
	}
	v := p.shape.Volume()
	return l, v > 0 && v < math.Inf(1)
}

// placed is the pose of the mesh itself: its hull is moved to the centre.
func (p *solidPart) placed() hal.Pose {
	if p.file != nil {
		return *p.file
	}
	return p.shape.Pose
}

// centred is the pose of the solid's centre of mass.
func (s *Shape) centred() hal.Pose { return s.Pose }

// maxMeshes bounds what is read of the meshes of a robot, bytes; the last one may be larger.
const maxMeshes = 512 << 20

// meshStore reads each mesh once.
type meshStore struct {
	open func(name string) (io.ReadCloser, error)
	read int64
	have map[meshKey]meshSolid
}

type meshKey struct {
	name    string
	scale   vec
	ref     hal.Pose
	inertia string // how MuJoCo makes the mass of it: "legacy", "exact", "convex", "shell"; "": of its closed surface
}

// meshSolid is a mesh as a solid.
type meshSolid struct {
	shape Shape  // its pose is in the frame of the mesh
	say   string // what is to be noted
	err   error
}

// fit makes the solid the hull of its mesh. say is what to note about it.
func (m *meshStore) fit(s *solidPart) (say string, err error) {
	if m.have == nil {
		m.have = map[meshKey]meshSolid{}
	}
	key := meshKey{s.mesh, s.scale, s.ref, s.inertia}
	got, known := m.have[key]
	if !known {
		got.shape, got.say, got.err = m.solid(key)
		m.have[key] = got
	}
	if got.err != nil {
		return "", got.err
	}
	file, drawn := s.shape.Pose, s.shape.Pose
	if ref := s.ref; ref != (hal.Pose{}) {
		for i := range ref.Position {
			ref.Position[i] *= s.scale[i]
		}
		drawn = within(drawn, inverse(ref))
	}
	s.file = &drawn
	kind := s.shape.Kind
	s.shape.Kind, s.shape.Half, s.shape.Hull = got.shape.Kind, got.shape.Half, got.shape.Hull
	s.shape.Pose = within(file, got.shape.Pose)
	if s.fit > 0 && s.shape.Kind == Hull {
		s.fitted(kind)
	}
	if known {
		return "", nil
	}
	return got.say, nil
}

func (m *meshStore) solid(key meshKey) (s Shape, say string, err error) {
	if err := mesh.Readable(key.name); err != nil {
		return s, "", err
	}
	if m.open == nil {
		return s, "", errors.New("got a mesh, want none or a folder to find it in")
	}
	if m.read > maxMeshes {
		return s, "", fmt.Errorf("got %d bytes of other meshes, want at most %d", m.read, maxMeshes)
	}
	r, err := m.open(key.name)
	if err != nil {
		return s, "", err
	}
	defer r.Close() // read only: an error has no effect
	if g, ok := r.(guess); ok {
		defer func() { say = strings.TrimPrefix(say+"; it is not there: the only file of that name is "+g.at, "; ") }()
	}
	var points [][3]float64
	var moments collide.Moments
	var surface []mesh.Triangle // only where its mass needs it
	back := inverse(key.ref)
	err = mesh.Decode(key.name, &counter{r, &m.read}, func(t *mesh.Triangle) error {
		corners := *t
		for k := range corners {
			if key.ref != (hal.Pose{}) {
				corners[k] = place(back, corners[k])
			}
			for i := range corners[k] {
				corners[k][i] *= key.scale[i]
				if !(math.Abs(corners[k][i]) <= maxLength) {
					return fmt.Errorf("got a corner at %g m, want at most %g", corners[k][i], maxLength)
				}
			}
		}
		// A surface shares its corners: most triangles bring half a new one. What repeats is left out where that costs
		// nothing.
		for _, c := range corners {
			if n := len(points); n < 3 || points[n-1] != c && points[n-2] != c && points[n-3] != c {
				points = append(points, c)
			}
		}
		if key.inertia != "" && key.inertia != "convex" {
			surface = append(surface, corners)
		}
		moments.Add(corners[0], corners[1], corners[2])
		return nil
	})
	if err != nil {
		return s, "", err
	}
	if key.inertia == "convex" {
		moments = collide.Moments{}
	}
	if s, say, err = hullShape(points, &moments); err == nil && s.Kind == Hull && surface != nil {
		s = surfaceMass(s, surface, key.inertia)
	}
	return s, say, err
}

// hullShape is the hull of points about its centre of mass; of points in a plane it is a thin box. moments are those of
// the mesh itself: they count for a mass where the surface is closed.
func hullShape(points [][3]float64, moments *collide.Moments) (s Shape, say string, err error) {
	c, err := collide.NewConvex(points)
	if err != nil {
		return thinBox(points), "flat: a box of 1 mm", nil
	}
	if v, centre, inertia, ok := moments.Solid(); ok && v > 0.02*c.Volume && v < 1.01*c.Volume && c.Holds(centre) &&
		plausible(inertia) {
		own := *c
		own.Volume, own.Centre, own.Inertia = v, centre, inertia
		c = &own
	}
	if c.Outside > 1e-6 {
		say = fmt.Sprintf("its hull has %d vertices; the mesh reaches up to %.2g mm beyond", len(c.Points()),
			1e3*c.Outside)
	}
	at := c.Centre
	return Shape{Kind: Hull, Hull: c.Moved(at), Pose: hal.Pose{Position: at, Rotation: [4]float64{1}}}, say, nil
}

// thinBox is the box along the principal axes of points in a plane.
func thinBox(points [][3]float64) Shape {
	var middle vec
	for _, p := range points {
		middle = add(middle, scale(1/float64(len(points)), p))
	}
	var spread mat
	for _, p := range points {
		spread.add(moved(1/float64(len(points)), add(p, scale(-1, middle))))
	}
	_, axes := principal(spread)
	if d := dot(cross(column(axes, 0), column(axes, 1)), column(axes, 2)); d < 0 {
		for i := range axes {
			axes[i][2] = -axes[i][2]
		}
	}
	low, high := vec{math.Inf(1), math.Inf(1), math.Inf(1)}, vec{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	for _, p := range points {
		for i := range 3 {
			x := dot(column(axes, i), add(p, scale(-1, middle)))
			low[i], high[i] = math.Min(low[i], x), math.Max(high[i], x)
		}
	}
	s := Shape{Kind: Box, Pose: hal.Pose{Rotation: quaternion(axes)}}
	centre := scale(0.5, add(low, high))
	s.Pose.Position = add(middle, axes.times(centre))
	for i := range 3 {
		s.Half[i] = math.Max(thinnest, (high[i]-low[i])/2)
	}
	return s
}

func column(m mat, i int) vec { return vec{m[0][i], m[1][i], m[2][i]} }

// quaternion is the rotation m, w x y z.
func quaternion(m mat) [4]float64 {
	r := r3.Mat{X: r3.Pack(column(m, 0)), Y: r3.Pack(column(m, 1)), Z: r3.Pack(column(m, 2))}
	return r.Quat().Array()
}

// guess is a file that was found by the last step of its name.
type guess struct {
	io.ReadCloser
	at string
}

// counter counts what is read.
type counter struct {
	io.Reader
	n *int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	*c.n += int64(n)
	return n, err
}

var errIrregular = errors.New("got no regular file")

// Meshes opens the meshes of the robot file at path, whose text is data (which may name a folder of meshes) by name:
// see finder.
func Meshes(path string, data []byte, packages map[string]string) func(name string) (io.ReadCloser, error) {
	f := newMeshFinder(path, data, packages)
	return func(name string) (io.ReadCloser, error) {
		at, in, err := f.open(name)
		if err == nil && f.guessed[at] {
			in = guess{in, at}
		}
		return in, err
	}
}

// newMeshFinder finds the files of the robot file at path, whose text is data.
func newMeshFinder(path string, data []byte, packages map[string]string) *finder {
	f := newFinder(filepath.Dir(path), packages)
	f.meshdir, f.urdf = meshFolder(data)
	f.moved = movedFiles(path)
	return f
}

// open opens a file by its name in the robot file, and returns its path.
func (f *finder) open(name string) (at string, in io.ReadCloser, err error) {
	_, at, err = f.find(name)
	if err != nil {
		return "", nil, err
	}
	if is, err := os.Stat(at); err == nil && !is.Mode().IsRegular() { // a pipe would not even open
		return "", nil, errIrregular
	}
	in, err = os.Open(at)
	return at, in, err
}

// OpenMesh opens a mesh of a URDF in the folder dir for a viewer: a regular file of the URDF's own tree, which no link
// leaves. That is the package that the name begins with; else the nearest folder with a package.xml, or dir, or the one
// above if dir is called urdf.
func OpenMesh(dir, name string) (io.ReadCloser, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	tree, path, err := newFinder(dir, nil).find(name)
	if err != nil {
		return nil, err
	}
	if tree == "" {
		tree = treeOf(dir)
	}
	inside, err := filepath.Rel(tree, path)
	if err != nil || !filepath.IsLocal(inside) {
		return nil, fmt.Errorf("got a file outside of %s, want a file inside", tree)
	}
	root, err := os.OpenRoot(tree)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if is, err := root.Stat(inside); err != nil {
		return nil, err
	} else if !is.Mode().IsRegular() {
		return nil, errIrregular
	}
	return root.Open(inside)
}

// treeOf is the tree that the URDF in the folder dir belongs to.
func treeOf(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "package.xml")); err == nil {
			return at
		} else if at == filepath.Dir(at) {
			break
		}
	}
	if filepath.Base(dir) == "urdf" {
		return filepath.Dir(dir)
	}
	return dir
}
