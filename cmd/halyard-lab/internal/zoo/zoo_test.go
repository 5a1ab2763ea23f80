package zoo

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestTry: each content is tried once, a part of another file is no robot, the reasons are counted, the joint moves.
func TestTry(t *testing.T) {
	dir := t.TempDir()
	const arm = `<robot name="arm"><link name="a"/><link name="b"><inertial><mass value="1"/>` +
		`<inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial></link><joint name="j" type="revolute">` +
		`<parent link="a"/><child link="b"/><limit lower="-1" upper="1" effort="5" velocity="2"/></joint></robot>`
	for name, text := range map[string]string{
		"a.urdf": arm, "again.urdf": arm, "b.urdf": "<robot/>",
		"m.xml":    `<mujoco><include file="part.xml"/></mujoco>`,
		"part.xml": `<mujoco><worldbody><body name="x"><joint/><geom size="0.1"/></body></worldbody></mujoco>`,
		"note.xml": `<package/>`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := Try(t.Context(), dir, true)
	if err != nil {
		t.Fatal(err)
	}
	want := File{File: "a.urdf", Format: "urdf", Joints: 1, Mass: 1, Reached: 1}
	if len(list) != 3 || list[0] != want {
		t.Errorf("got %+v, want three files, the first %+v", list, want)
	}
	shares := Shares(list)
	for _, want := range []Share{{"urdf: loaded", 1, "a.urdf"}, {"mjcf: loaded, repaired", 1, "m.xml"},
		{"urdf: refused: link: got none, want at least one", 1, "b.urdf"}} {
		if len(shares) != 3 || !slices.Contains(shares, want) {
			t.Errorf("got %+v, want also %+v", shares, want)
		}
	}
}
