package dashboard_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/halyard-robotics/halyard"
)

// turntable writes a config of a URDF with meshes, next to a copy of its files, and returns its path and that of the
// copy.
func turntable(t *testing.T) (config, folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := os.CopyFS(filepath.Join(folder, "turntable"),
		os.DirFS("../../../sim/model/testdata/turntable")); err != nil {
		t.Fatal(err)
	}
	config = filepath.Join(folder, "rig.yaml")
	text := "name: turntable\nclock: {mode: realtime, period: 10ms}\nagents:\n  - {name: table, model: " +
		"turntable/urdf/turntable.urdf, body: sim}\n"
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return config, folder
}

// fetch returns the status and the bytes of the dashboard's answer.
func fetch(t *testing.T, url string) (int, []byte) {
	t.Helper()
	text, code := get(t, url)
	return code, []byte(text)
}

type solidText struct {
	Kind        string
	Body        int
	At          []float64
	Group, Mesh int
}

// TestMeshes: the looks of a URDF's links are in the scene beside the shapes of the physics, and their files are sent
// as triangles.
func TestMeshes(t *testing.T) {
	config, folder := turntable(t)
	rig := serve(t, config)
	read := func() (scene struct {
		Generation int
		Meshes     []string
		Rigs       []struct{ Shapes, Looks []solidText }
	}) {
		code, b := fetch(t, rig.url+"scene")
		if err := json.Unmarshal(b, &scene); code != http.StatusOK || err != nil {
			t.Fatalf("got %d %s, %v", code, b, err)
		}
		return scene
	}
	scene := read()
	if fmt.Sprint(scene.Meshes) != "[package://turntable/meshes/ring.obj ../meshes/star.stl]" ||
		len(scene.Rigs[0].Looks) != 2 {
		t.Fatalf("got %+v", scene)
	}
	for i, look := range scene.Rigs[0].Looks {
		var stands []string
		for _, s := range scene.Rigs[0].Shapes {
			if s.Group == look.Group {
				stands = append(stands, fmt.Sprint(s.Kind, " of ", s.Body))
			}
		}
		want := []string{"[cylinder of 0]", "[box of 1]"}[i]
		if look.Kind != "mesh" || look.Mesh != i || look.Body != i || fmt.Sprint(stands) != want {
			t.Errorf("look %d: got %+v in place of %v, want %s", i, look, stands, want)
		}
	}
	get := func(i int) (int, []byte) {
		return fetch(t, fmt.Sprintf("%smesh?generation=%d&mesh=%d", rig.url, scene.Generation, i))
	}
	for i, want := range []struct {
		triangles uint32
		size      [3]float64 // of the box around them, m
	}{{400, [3]float64{0.26, 0.26, 0.0856}}, {40, [3]float64{0.2171, 0.2283, 0.02}}} {
		code, b := get(i)
		if code != http.StatusOK || len(b) != 8+36*int(want.triangles) ||
			binary.LittleEndian.Uint32(b) != want.triangles || binary.LittleEndian.Uint32(b[4:]) != want.triangles {
			t.Fatalf("mesh %d: got %d, %d bytes, want %d triangles", i, code, len(b), want.triangles)
		}
		for axis := range 3 {
			low, high := math.Inf(1), math.Inf(-1)
			for at := 8 + 4*axis; at < len(b); at += 12 {
				x := float64(math.Float32frombits(binary.LittleEndian.Uint32(b[at:])))
				low, high = math.Min(low, x), math.Max(high, x)
			}
			if math.Abs(high-low-want.size[axis]) > 1e-4 {
				t.Errorf("mesh %d: got %.4f m along axis %d, want %.4f", i, high-low, axis, want.size[axis])
			}
		}
	}
	for _, c := range []struct {
		query, want string
		code        int
	}{
		{"", "generation: want a number", http.StatusBadRequest},
		{"generation=x&mesh=0", "generation: want a number", http.StatusBadRequest},
		{fmt.Sprintf("generation=%d&mesh=../x", scene.Generation), "mesh: want a number", http.StatusBadRequest},
		{fmt.Sprintf("generation=%d&mesh=2", scene.Generation), "got 2 of scene", http.StatusUnprocessableEntity},
		{fmt.Sprintf("generation=%d&mesh=-1", scene.Generation), "got -1 of scene", http.StatusUnprocessableEntity},
		{fmt.Sprintf("generation=%d&mesh=0", scene.Generation+1), "want a mesh of the newest scene",
			http.StatusUnprocessableEntity},
	} {
		if code, b := fetch(t, rig.url+"mesh?"+c.query); code != c.code || !strings.Contains(string(b), c.want) {
			t.Errorf("%s: got %d %s, want %d %s", c.query, code, b, c.code, c.want)
		}
	}
	// What was read stays; a file that changes is read when it is asked for the first time.
	if err := os.Remove(filepath.Join(folder, "turntable/meshes/ring.obj")); err != nil {
		t.Fatal(err)
	}
	if code, _ := get(0); code != http.StatusOK {
		t.Errorf("a mesh that was read: got %d", code)
	}
}

// TestBadMesh: a file that no longer is a mesh is refused with its name and line.
func TestBadMesh(t *testing.T) {
	config, folder := turntable(t)
	rig := serve(t, config)
	if err := os.WriteFile(filepath.Join(folder, "turntable/meshes/ring.obj"), []byte("v 0 0 0\nf 1 2 3\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	_, b := fetch(t, rig.url+"scene")
	var scene struct{ Generation int }
	if err := json.Unmarshal(b, &scene); err != nil {
		t.Fatal(err)
	}
	code, b := fetch(t, fmt.Sprintf("%smesh?generation=%d&mesh=0", rig.url, scene.Generation))
	if want := `mesh "package://turntable/meshes/ring.obj": obj: line 2: f: got "2", want one of 1 vertices`; code != http.StatusUnprocessableEntity || strings.TrimSpace(string(b)) != want {
		t.Errorf("got %d %s, want %s", code, b, want)
	}
}

// TestBrowserMeshes: the page draws the meshes, the physics' shapes when asked, and those alone where a file cannot be
// read.
func TestBrowserMeshes(t *testing.T) {
	ctx := browser(t)
	config, folder := turntable(t)
	rig := serve(t, config, halyard.Set("agents[0].pose.position", "[0, 0, 0.02]"))
	faults := watch(ctx)
	// count is how many pixels are not grey: those of the robot's links. The canvas keeps no picture: they are counted
	// in a frame in which it was drawn, after that. A turn of the wheel by nothing makes the page draw.
	count := func() int {
		run(t, ctx, chromedp.Evaluate[chromedp.Void](`(() => {
			const to = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
			window.coloured = 0;
			const look = () => {
				const c = document.querySelector("canvas"); // a new layout draws a new page
				to.canvas.width = c.width; to.canvas.height = c.height;
				to.drawImage(c, 0, 0);
				const p = to.getImageData(0, 0, c.width, c.height).data;
				for (let i = 0; i < p.length; i += 4) if (Math.abs(p[i + 2] - p[i]) > 9) window.coloured++;
				if (!window.coloured) { c.dispatchEvent(new WheelEvent("wheel", { deltaY: 0 })); requestAnimationFrame(look); }
			};
			requestAnimationFrame(() => requestAnimationFrame(look));
		})()`), until("window.coloured > 0"))
		return value[int](t, ctx, "window.coloured")
	}
	const box = `[...document.querySelectorAll("label")].find((l) => l.textContent.includes("shapes of the physics"))`
	run(t, ctx, chromedp.EmulateViewport(1366, 768), chromedp.Navigate(rig.url+"#robot"),
		until(`document.querySelector('[data-read="2"]') !== null`), until(box+`.offsetParent !== null`))
	// both are the pixels of what is drawn without and with the physics' shapes in place of the meshes. From a turn of
	// the wheel on the camera stays, and is not fitted to what is drawn.
	both := func() (meshes, shapes int) {
		tick := func(on string) action {
			return do(`{ const tick = ` + box + `.querySelector("input"); if (tick.checked !== ` + on +
				`) tick.click(); }`)
		}
		run(t, ctx, do(`document.querySelector("canvas").dispatchEvent(new WheelEvent("wheel", { deltaY: 1 }))`),
			tick("false"))
		meshes = count()
		shoot(t, ctx, "meshes")
		run(t, ctx, tick("true"))
		return meshes, count()
	}
	meshes, shapes := 0, 0
	// A new layout draws a new page, which reads the meshes again and draws the shapes until then.
	eventually(t, "the shapes do not cover more than a ring and a star", func() bool {
		meshes, shapes = both()
		return shapes >= meshes*5/4
	})
	shoot(t, ctx, "meshes-shapes")
	t.Logf("%d pixels of meshes, %d of shapes", meshes, shapes)
	if list := faults(); len(list) > 0 {
		t.Errorf("the browser reports: %s", strings.Join(list, "\n"))
	}
	// One file is broken since, one absent: the page says so and draws the shapes.
	broken := serve(t, config, halyard.Set("agents[0].pose.position", "[0, 0, 0.02]"))
	if err := errors.Join(os.WriteFile(filepath.Join(folder, "turntable/meshes/ring.obj"), []byte("v 0 0 0\nf 1 2 3\n"),
		0o644),
		os.Remove(filepath.Join(folder, "turntable/meshes/star.stl"))); err != nil {
		t.Fatal(err)
	}
	run(t, ctx, chromedp.Navigate(broken.url+"#robot"),
		until(`document.querySelector(".side")?.textContent.includes("obj: line 2: f: got \"2\", want one of 1 vertices")`),
		until(`document.querySelector(".side")?.textContent.includes("star.stl")`))
	eventually(t, "without its meshes: the shapes are not drawn", func() bool {
		meshes, shapes = both()
		return meshes == shapes
	})
	shoot(t, ctx, "meshes-broken")
}
