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
	"github.com/halyard-robotics/halyard/sim/mesh"
)

// thinnest is the least half size of a box that is fitted to a mesh, m: a flat one still has two sides.
const thinnest = 0.0005

// Look is a solid that is drawn in place of shapes of the physics: a <visual> of a URDF, or the mesh to which a box was fitted.
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

// fit makes the shape, whose pose is the mesh's, the smallest box along the mesh's axes that contains the mesh.
func (s *Shape) fit(name string, by vec, o *URDFOptions) error {
	box, err := o.box(name)
	if err != nil {
		return err
	}
	var centre vec
	for i := range 3 {
		a, b := box[0][i]*by[i], box[1][i]*by[i] // a negative scale mirrors
		centre[i] = (a + b) / 2
		s.Half[i] = math.Max(thinnest, math.Abs(b-a)/2)
		if !(s.Half[i] <= maxLength && math.Abs(centre[i]) <= maxLength) {
			return fmt.Errorf("got a size of %g m, want at most %g", 2*s.Half[i], maxLength)
		}
	}
	s.Kind = Box
	s.Pose = within(s.Pose, hal.Pose{Position: centre})
	return nil
}

// maxMeshes bounds what is read of the meshes of a robot, bytes; the last one may be larger.
const maxMeshes = 512 << 20

// box returns the lowest and the highest corner of the mesh called name, which is read once.
func (o *URDFOptions) box(name string) (box [2]vec, err error) {
	if err := mesh.Readable(name); err != nil {
		return box, err
	}
	if o.Open == nil {
		return box, errors.New("got a mesh, want none or a folder to find it in")
	}
	if box, known := o.boxes[name]; known {
		return box, nil
	}
	if o.read > maxMeshes {
		return box, fmt.Errorf("got %d bytes of other meshes, want at most %d", o.read, maxMeshes)
	}
	r, err := o.Open(name)
	if err != nil {
		return box, err
	}
	defer r.Close() // read only: an error has no effect
	if box[0], box[1], err = mesh.Bounds(name, &counted{r, &o.read}); err == nil {
		o.boxes[name] = box
	}
	return box, err
}

// counted counts what is read.
type counted struct {
	io.Reader
	n *int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	*c.n += int64(n)
	return n, err
}

var errIrregular = errors.New("got no regular file, want one")

// Meshes opens meshes by name: relative to dir; package://NAME/ in packages[NAME], or else in dir's nearest ancestor
// called NAME; file:// anywhere.
func Meshes(dir string, packages map[string]string) func(name string) (io.ReadCloser, error) {
	return func(name string) (io.ReadCloser, error) {
		_, path, err := findMesh(dir, name, packages)
		if err != nil {
			return nil, err
		}
		if is, err := os.Stat(path); err == nil && !is.Mode().IsRegular() { // a pipe would not even open
			return nil, errIrregular
		}
		return os.Open(path)
	}
}

// findMesh returns the path of a mesh, and the folder of its package; "" if it is in none.
func findMesh(dir, name string, packages map[string]string) (root, path string, err error) {
	if rest, ok := strings.CutPrefix(name, "package://"); ok {
		pack, file, _ := strings.Cut(rest, "/")
		root, known := packages[pack]
		if !known {
			whole, err := filepath.Abs(dir)
			if err != nil {
				return "", "", err
			}
			for root = whole; filepath.Base(root) != pack; root = filepath.Dir(root) {
				if root == filepath.Dir(root) {
					return "", "", fmt.Errorf("package %q: got no folder of that name above %s", pack, dir)
				}
			}
		}
		return root, filepath.Join(root, filepath.FromSlash(file)), nil
	}
	if file, ok := strings.CutPrefix(name, "file://"); ok {
		return "", filepath.FromSlash(file), nil
	} else if filepath.IsAbs(name) {
		return "", name, nil
	}
	return "", filepath.Join(dir, filepath.FromSlash(name)), nil
}

// OpenMesh opens a mesh of a URDF in the folder dir for a viewer: a regular file of the URDF's own tree, which no link leaves. That
// is the package that the name begins with; else the nearest folder with a package.xml, or dir, or the one above if dir is called urdf.
func OpenMesh(dir, name string) (io.ReadCloser, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	tree, path, err := findMesh(dir, name, nil)
	if err != nil {
		return nil, err
	}
	if tree == "" {
		tree = treeOf(dir)
	}
	inside, err := filepath.Rel(tree, path)
	if err != nil || !filepath.IsLocal(inside) {
		return nil, fmt.Errorf("got a file outside of %s, want one inside", tree)
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
