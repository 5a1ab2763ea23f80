package model

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/xml"
)

// TestURDFLooks: a link is drawn as its visuals, else as the meshes of its collisions, else as its shapes; the physics
// has the shapes.
func TestURDFLooks(t *testing.T) {
	r, err := OpenFile("testdata/turntable/urdf/turntable.urdf", FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	base, star := &r.Bodies[0], &r.Bodies[1]
	if len(base.Looks) != 1 || base.Looks[0].Mesh != "package://turntable/meshes/ring.obj" ||
		base.Looks[0].Scale != (vec{1, 1, 1.5}) ||
		base.Looks[0].Shape.Pose.Position != (vec{0, 0, 0.05}) || base.Looks[0].First != 0 || base.Looks[0].End != 1 ||
		base.Shapes[0].Kind != Cylinder {
		t.Errorf("base: got %+v", base.Looks)
	}
	// The hull has its own centre, the mesh the file's; the visual of the grip is in a format that is not read.
	if len(star.Looks) != 1 || star.Looks[0].Mesh != "../meshes/star.stl" ||
		star.Looks[0].Shape.Pose.Position != (vec{0, 0, 0.01}) ||
		star.Looks[0].First != 0 || star.Looks[0].End != 1 || len(star.Shapes) != 2 || star.Shapes[0].Kind != Hull {
		t.Errorf("star: got %+v, shapes %+v", star.Looks, star.Shapes)
	}
	for _, c := range []struct{ visual, want string }{
		{`<mesh filename="a.obj"/>`, "[a.obj]"},
		{`<mesh filename="a.obj" scale="1 0 1"/>`, "[c.stl]"},
		{`<mesh filename="a.obj" scale="1 1"/>`, "[c.stl]"},
		{`<mesh filename="a.obj"/><sphere radius="1"/>`, "[a.obj]"},
		{`<mesh filename="a.obj"/></geometry></visual><visual><geometry><sphere radius="1"/>`, "[a.obj ]"},
		{`<mesh filename="a.obj"/></geometry></visual><visual><geometry><sphere radius="x"/>`, "[c.stl]"},
		{`<sphere radius="1"/>`, "[c.stl]"},
		{strings.Repeat(`<mesh filename="a.obj"/></geometry></visual><visual><geometry>`, maxShapes) +
			`<mesh filename="a.obj"/>`, "[c.stl]"},
	} {
		d := description{source: "r.urdf"}
		root, err := xml.Read(urdf(`<link name="a"><visual><geometry>`+c.visual+
			`</geometry></visual><collision><geometry><mesh filename="c.stl"/></geometry></collision></link>`),
			xml.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if readURDF(&d, root); len(d.faults) > 0 {
			t.Errorf("%s: got %v", c.visual, d.faults)
		}
		var got []string
		for _, l := range d.parts[0].looks(3) {
			got = append(got, l.Mesh)
			if l.First != 3 || l.End != 4 {
				t.Errorf("%s: for the shapes from %d to %d", c.visual, l.First, l.End)
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%.60s: got %v, want %s", c.visual, got, c.want)
		}
	}
}

// TestMeshesRegular: a folder or a device is no mesh of the physics either.
func TestMeshesRegular(t *testing.T) {
	for _, name := range []string{"meshes", "file:///dev/zero"} {
		if f, err := Meshes("testdata/arm/r.urdf", nil, nil)(name); err == nil {
			f.Close()
			t.Errorf("%s: got a file, want a refusal", name)
		} else if !strings.Contains(err.Error(), "got no regular file") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestOpenMesh: a viewer gets regular files of the URDF's own tree alone.
func TestOpenMesh(t *testing.T) {
	top := t.TempDir()
	for _, file := range []string{"arm/urdf/x.urdf", "arm/meshes/a.stl", "bare/a.stl", "made/package.xml",
		"made/robots/v1/x.urdf", "made/a.stl", "secret.stl"} {
		path := filepath.Join(top, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(file), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../../secret.stl", filepath.Join(top, "arm/meshes/link.stl")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ dir, name, want string }{
		{"arm/urdf", "../meshes/a.stl", ""},
		{"arm/urdf", "package://arm/meshes/a.stl", ""},
		{"arm/urdf", filepath.Join(top, "arm/meshes/a.stl"), ""},
		{"arm/urdf", "file://" + filepath.Join(top, "arm/meshes/a.stl"), ""},
		{"bare", "a.stl", ""},
		{"made/robots/v1", "../../a.stl", ""},
		{"arm/urdf", "../../secret.stl", "outside of"},
		{"arm/urdf", "package://arm/../secret.stl", "outside of"},
		{"arm/urdf", "file://" + filepath.Join(top, "secret.stl"), "outside of"},
		{"arm/urdf", "/dev/zero", "outside of"},
		{"arm/urdf", "../meshes/link.stl", "escapes"},
		{"arm/urdf", "../meshes", "got no regular file"},
		{"arm/urdf", "../meshes/b.stl", "no such file"},
		{"arm/urdf", "package://leg/meshes/a.stl", ""}, // below a folder above, as PyBullet finds it
		{"arm/urdf", "package://leg/meshes/c.stl", `package "leg"`},
		{"arm/urdf", "package://secret.stl", "outside of"},
		{"arm/urdf", "package://leg/secret.stl", "outside of"},
		{"bare", "../secret.stl", "outside of"},
	} {
		f, err := OpenMesh(filepath.Join(top, c.dir), c.name)
		if err == nil {
			f.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in %s: got %v, want %q", c.name, c.dir, err, c.want)
		}
	}
}
