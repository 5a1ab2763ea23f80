package lerobot_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/lerobot"
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "halyard")
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_RUNTIME_DIR", dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// recorded is a recording of a leader that is moved: episodes of a second each, by their marks.
func recorded(t *testing.T, marks ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run.mcap")
	cfg, err := halyard.Load("teleop", halyard.Set("clock.mode", "lockstep"), halyard.Set("record.file", file),
		halyard.Set("agents[1].body", "sim"))
	if err != nil {
		t.Fatal(err)
	}
	sys, err := halyard.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	leader, n := sys.Agent("leader"), 0
	step := func(count int) {
		for range count {
			n++
			for _, j := range leader.Joints() {
				at := 0.0
				if j == "elbow_flex" {
					at = 0.4 * math.Sin(float64(n)*0.02)
				}
				if err := leader.Hand(j, at, 0); err != nil {
					t.Fatal(err)
				}
			}
			if err := sys.Step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	step(50)
	if err := sys.Teleop().Engage(); err != nil {
		t.Fatal(err)
	}
	step(400)
	for _, mark := range marks {
		if err := sys.Teleop().Mark(mark); err != nil {
			t.Fatal(err)
		}
		step(100)
	}
	if err := sys.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// rows reads a Parquet file: of each row the values of each column.
func rows(t *testing.T, name string) (list []map[string][]parquet.Value, f *parquet.File) {
	t.Helper()
	in, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	stat, _ := in.Stat()
	if f, err = parquet.OpenFile(in, stat.Size()); err != nil {
		t.Fatal(err)
	}
	columns := f.Schema().Columns()
	r := parquet.NewReader(f)
	defer r.Close()
	buf := make([]parquet.Row, 1)
	for {
		n, err := r.ReadRows(buf)
		for _, row := range buf[:n] {
			m := map[string][]parquet.Value{}
			for _, v := range row {
				name := columns[v.Column()][0]
				m[name] = append(m[name], v.Clone())
			}
			list = append(list, m)
		}
		if err == io.EOF {
			return list, f
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestExport: the episodes that were kept, in order, with what was asked, sent and measured, at a true rate.
func TestExport(t *testing.T) {
	file := recorded(t, "start pick up", "success", "start", "discard", "start put down", "failure", "start pick up")
	dir := filepath.Join(t.TempDir(), "set")
	results, err := lerobot.Export(dir, []string{file}, lerobot.Options{Units: lerobot.Degrees})
	if err != nil || len(results) != 2 || results[0].Frames != 30 || results[1].Outcome != "failure" {
		t.Fatalf("got %+v, %v", results, err)
	}
	if _, err := os.Stat(dir + ".partial"); err == nil {
		t.Error("the unfinished folder is still there")
	}
	list, f := rows(t, filepath.Join(dir, "data/chunk-000/file-000.parquet"))
	if len(list) != 60 || len(f.RowGroups()) != 2 {
		t.Fatalf("got %d rows in %d groups", len(list), len(f.RowGroups()))
	}
	most := 0.0
	for i, r := range list {
		k := i % 30
		if int(r["index"][0].Int64()) != i || int(r["frame_index"][0].Int64()) != k ||
			int(r["episode_index"][0].Int64()) != i/30 || int(r["task_index"][0].Int64()) != i/30 ||
			r["timestamp"][0].Float() != float32(float64(k)/30) || r["next.done"][0].Boolean() != (k == 29) ||
			r["next.success"][0].Boolean() != (i == 29) {
			t.Fatalf("frame %d: got %v", i, r)
		}
		// Cycle 451 is the first of the first episode; what was asked then is where the leader was measured.
		cycle := 451 + i/30*400 + int(math.Floor(float64(k)*100/30+1e-6))
		want := 0.4 * math.Sin(float64(cycle)*0.02) * 180 / math.Pi
		action, state, sent := r["action"][2].Float(), r["observation.state"][2].Float(), r["sent.goal"][2].Float()
		if d := math.Abs(float64(action) - want); d > 0.2 || math.Abs(float64(sent-action)) > 1 {
			t.Errorf("frame %d: elbow_flex: asked %.3f, sent %.3f, want %.3f", i, action, sent, want)
		}
		most = max(most, math.Abs(float64(state-action)))
	}
	if most < 0.1 || most > 8 {
		t.Errorf("the follower is up to %.3f degrees from what it was asked", most)
	}
	checkMeta(t, dir, file)
}

func checkMeta(t *testing.T, dir, file string) {
	episodes, _ := rows(t, filepath.Join(dir, "meta/episodes/chunk-000/file-000.parquet"))
	for i, e := range episodes {
		task := []string{"pick up", "put down"}[i]
		if e["dataset_from_index"][0].Int64() != int64(30*i) || e["dataset_to_index"][0].Int64() != int64(30*i+30) ||
			e["length"][0].Int64() != 30 || string(e["tasks"][0].ByteArray()) != task ||
			len(e["stats/action/mean"]) != 6 {
			t.Errorf("episode %d: got %v", i, e)
		}
	}
	tasks, f := rows(t, filepath.Join(dir, "meta/tasks.parquet"))
	text, _ := f.Lookup("pandas")
	var pandas struct {
		Index []string `json:"index_columns"`
	}
	if json.Unmarshal([]byte(text), &pandas) != nil || fmt.Sprint(pandas.Index) != "[task]" || len(tasks) != 2 {
		t.Errorf("tasks: got %d with %s", len(tasks), text)
	}
	var info struct {
		Version  string                    `json:"codebase_version"`
		FPS      float64                   `json:"fps"`
		Frames   int                       `json:"total_frames"`
		Features map[string]map[string]any `json:"features"`
	}
	var stats map[string]map[string][]float64
	for name, v := range map[string]any{"info": &info, "stats": &stats} {
		data, err := os.ReadFile(filepath.Join(dir, "meta", name+".json"))
		if err == nil {
			err = json.Unmarshal(data, v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if info.Version != "v3.0" || info.FPS != 30 || info.Frames != 60 || len(info.Features) != 10 ||
		!strings.Contains(fmt.Sprint(info.Features["action"]["names"]), "[shoulder_pan.pos shoulder_lift.pos elbow") {
		t.Errorf("info: got %+v", info)
	}
	a := stats["action"]
	if a["count"][0] != 60 || !(a["min"][2] <= a["q01"][2] && a["q01"][2] < a["q50"][2] && a["q99"][2] <= a["max"][2]) {
		t.Errorf("stats: got %v", a)
	}
}

// TestExportChoices: units, successes only, what is refused.
func TestExportChoices(t *testing.T) {
	file := recorded(t, "start pick up", "success", "start", "failure")
	for units, most := range map[lerobot.Units]float64{lerobot.Radians: 0.5, lerobot.Range: 100} {
		dir := filepath.Join(t.TempDir(), "set")
		got, err := lerobot.Export(dir, []string{file, file},
			lerobot.Options{Units: units, SuccessOnly: true, Rate: 50})
		if err != nil || len(got) != 4 || got[0].Frames != 50 || got[1].Frames != 0 || got[2].Frames != 50 {
			t.Fatalf("%s: got %+v, %v", units, got, err)
		}
		list, _ := rows(t, filepath.Join(dir, "data/chunk-000/file-000.parquet"))
		for _, r := range list {
			for k, v := range r["action"] {
				low, high := -most, most
				if units == lerobot.Range && k == 5 {
					low = 0
				}
				if x := float64(v.Float()); x < low || x > high {
					t.Fatalf("%s: joint %d: got %g", units, k, x)
				}
			}
		}
		if _, err := lerobot.Export(dir, []string{file}, lerobot.Options{}); hal.KindOf(err) != hal.Invalid {
			t.Errorf("a folder that exists: got %v", err)
		}
	}
	for _, c := range []struct {
		files []string
		o     lerobot.Options
		want  string
	}{
		{[]string{file}, lerobot.Options{Rate: 200}, "--fps 100"},
		{[]string{file}, lerobot.Options{Agents: []string{"absent"}}, `no agent "absent"`},
		{[]string{recorded(t)}, lerobot.Options{}, "no episode"},
		{[]string{filepath.Join(t.TempDir(), "absent.mcap")}, lerobot.Options{}, "absent.mcap"},
	} {
		dir := filepath.Join(t.TempDir(), "set")
		if _, err := lerobot.Export(dir, c.files, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Error("a refused export left a folder")
		}
	}
}
