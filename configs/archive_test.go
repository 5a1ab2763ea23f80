package configs

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestArchiveTakesWhatIsReferredTo: a file is taken where a key of the config, or a mesh of its robot, names it; not
// where a comment or another text does.
func TestArchiveTakesWhatIsReferredTo(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "rig")
	for name, text := range map[string]string{
		"rig/rig.yaml": `# see credentials.txt and ~/.netrc, also meshes/secret.stl
name: rig
world: {scene: hall.yaml}                # not credentials.txt
buses: {line: {type: dynamixel2, port: /dev/ttyUSB0}, main: {type: i2c, port: port.txt}}
classes:
  Class: {model: class.yaml}
agents:
  - name: credentials.txt
    model: arm.urdf
    hardware:
      joints: {a: {bus: line, id: 1, model: servo.yaml, calibration: cal/a.yaml}, b: {bus: line, id: 2, model: xl330-m288, calibration: ../shared.yaml}}
      sensors: {imu: {bus: main, device: bno055, calibration: bare, ground_truth: cal/true.yaml}}
servers: [{protocol: rosbridge, agent: credentials.txt, listen: "127.0.0.1:0", origins: [origin.txt]}]
record: {file: run.mcap}
`,
		"rig/arm.urdf": `<?xml version="1.0"?><!-- mesh filename="credentials.txt" -->
<robot name="credentials.txt"><link name="l"><visual><geometry><mesh filename="meshes/a.stl"/></geometry></visual>credentials.txt</link>
<link name="m"><collision><geometry><mesh filename="../outside.stl" /></geometry></collision></link></robot>`,
		"rig/credentials.txt": "secret", "rig/origin.txt": "secret", "rig/port.txt": "secret",
		"rig/meshes/secret.stl": "secret", "rig/run.mcap": "old",
		"rig/hall.yaml": "# credentials.txt\n", "rig/class.yaml": "doc: credentials.txt\n", "rig/servo.yaml": "",
		"rig/cal/a.yaml":    "notes: credentials.txt\n",
		"rig/cal/true.yaml": "", "rig/bare": "", "rig/meshes/a.stl": "solid credentials.txt", "shared.yaml": "",
		"outside.stl": "",
	} {
		path := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(filepath.Join(dir, "rig.yaml"), Options{Set: []string{"record.file=run.mcap"}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Archive(func(string) map[string]string { return nil })
	if err != nil {
		t.Fatal(err)
	}
	names := a.Names()
	for i, n := range names {
		if strings.HasPrefix(n, "outside/") {
			names[i] = filepath.Base(n)
			if !bytes.Contains(a.Config, []byte("calibration: "+n)) {
				t.Errorf("%s: not in the archive's config", n)
			}
		}
	}
	want := "arm.urdf bare cal/a.yaml cal/true.yaml class.yaml hall.yaml meshes/a.stl shared.yaml servo.yaml"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := strings.Join(a.Absent, " "); got != "../outside.stl" {
		t.Errorf("absent: got %s", got)
	}
}

// TestFilesAreTagged: each key that says that it is a file's path is known to Archive.
func TestFilesAreTagged(t *testing.T) {
	outputs := map[string]bool{"file": true, "port": true} // a recording, a device
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(v reflect.Type) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				f := v.Field(i)
				key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
				doc := strings.ToLower(f.Tag.Get("doc"))
				named := strings.Contains(doc, "path of") || strings.Contains(doc, "calibration file")
				if f.Type.Kind() == reflect.String && named && f.Tag.Get("file") == "" && !outputs[key] {
					t.Errorf("%v.%s: %s: got no tag file, want one", v, f.Name, doc)
				}
				if f.Type != v && !seen[f.Type] && key != "-" {
					seen[f.Type] = true
					walk(f.Type)
				}
			}
		}
	}
	walk(reflect.TypeFor[Config]())
}
