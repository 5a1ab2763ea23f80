package lerobot

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/teleop"
)

const (
	version  = "v3.0"
	chunk    = 1000      // files of a folder
	dataSize = 100 << 20 // bytes of a file of frames, about
	dataPath = "data/chunk-%03d/file-%03d.parquet"
)

// Options are those of an export.
type Options struct {
	Rate        float64 // frames a second; 0 = 30
	Units       Units
	RobotType   string   // "" = the names of the agents
	Agents      []string // nil = those that were commanded in an episode
	SuccessOnly bool
}

// Result is what became of an episode.
type Result struct {
	Recording string        `json:"recording"`
	Episode   int           `json:"episode"` // in the recording, from 1
	Task      string        `json:"task"`
	Outcome   string        `json:"outcome"`
	Frames    int           `json:"frames"` // 0 = it was left out
	Oldest    report.Number `json:"oldest_picture_s"`
	Note      string        `json:"note,omitempty"`
}

// Cells implements a row of a table.
func (r Result) Cells() report.Cells {
	return report.Cells{{"recording", r.Recording}, {"episode", r.Episode}, {"task", r.Task}, {"outcome", r.Outcome},
		{"frames", r.Frames}, {"oldest picture s", r.Oldest}, {"note", r.Note}}
}

// dataset is a data set that is being written.
type dataset struct {
	Options
	dir     string
	joints  []joint
	cameras []string // AGENT/CAMERA
	sizes   [][2]int // of the cameras: height, width; nil = not known yet
	names   []string // of the joints

	file     *os.File
	data     *table
	written  int // bytes of pictures and numbers in file, about
	number   int // of file
	tasks    []string
	episodes []done
	numbers  [][]float32 // all frames, a column each; see scalars
	shades   []shades
	results  []Result
}

// done is an episode that is written.
type done struct {
	task, length, from, file int
	stats                    []*stat // of the features, in order
}

// Export makes dir, which must not exist, a data set of the episodes of recordings. The error is of kind Invalid; an
// episode that does not fit is left out and has a note.
func Export(dir string, files []string, o Options) (list []Result, err error) {
	if o.Rate = cmp.Or(o.Rate, 30); !(o.Rate >= 1 && o.Rate <= 1000) {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "export", Err: fmt.Errorf("rate: got %g, want 1..1000", o.Rate)}
	}
	if _, err := os.Stat(dir); err == nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "export " + dir,
			Err: errors.New("got a folder that exists, want a new one")}
	}
	d := &dataset{Options: o, dir: dir + ".partial"}
	var recordings []*Recording
	for _, f := range files {
		r, err := Open(f)
		if err != nil {
			return nil, err
		}
		recordings = append(recordings, r)
	}
	if err := d.columns(recordings); err != nil {
		return nil, err
	}
	if err := os.Mkdir(d.dir, 0o755); err != nil {
		return nil, &hal.Error{Kind: hal.Busy, Op: "export", Err: err, Try: "remove what an interrupted export left"}
	}
	defer os.RemoveAll(d.dir)
	for _, r := range recordings {
		n := 0
		err := r.read(d.joints, d.cameras, func(t *take) error { n++; return d.episode(r, n, t) })
		if err != nil {
			return d.results, err
		}
	}
	if err := d.end(); err != nil {
		return d.results, err
	}
	return d.results, os.Rename(d.dir, dir)
}

// columns finds the joints and cameras of the data set: those of the first recording, which all others must have.
func (d *dataset) columns(list []*Recording) error {
	agents := d.Agents
	for _, r := range list {
		if d.Agents == nil {
			agents = append(agents, r.Agents...)
		}
	}
	slices.Sort(agents)
	agents = slices.Compact(agents)
	fail := func(format string, args ...any) error {
		return &hal.Error{Kind: hal.Invalid, Op: "export", Err: fmt.Errorf(format, args...)}
	}
	if len(agents) == 0 {
		return fail("got no episode in which a robot was commanded, want marks (try: halyard teleop CONFIG --task TASK)")
	}
	for at, r := range list {
		var joints []joint
		var cameras []string
		for _, name := range agents {
			l, ok := r.layouts[name]
			if !ok {
				return fail("%s: got no agent %q", r.File, name)
			}
			for _, j := range l.Joints {
				if j.Goal >= 0 && j.Measured {
					joints = append(joints, joint{name, j})
				}
			}
		}
		for _, name := range report.SortedKeys(r.layouts) { // a camera may be a robot of its own
			for _, c := range r.layouts[name].Cameras {
				if full := name + "/" + c; r.seen[topicOf(full)] { // a recording may have no pictures
					cameras = append(cameras, full)
				}
			}
		}
		if at == 0 {
			d.joints, d.cameras = joints, cameras
		} else if !slices.Equal(joints, d.joints) || !slices.Equal(cameras, d.cameras) {
			return fail("%s: got other joints, limits or cameras than %s", r.File, list[0].File)
		}
		if r.period > 1/d.Rate+early {
			return fail("%s: got a cycle of %g s, want at most a frame, %.4f s (try: --fps %g)", r.File, r.period,
				1/d.Rate, math.Floor(1/r.period))
		}
	}
	for _, j := range d.joints {
		name := j.Name + ".pos"
		if len(agents) > 1 {
			name = j.agent + "_" + name
		}
		d.names = append(d.names, name)
	}
	if d.RobotType == "" {
		d.RobotType = strings.Join(agents, "_")
	}
	d.shades, d.sizes = make([]shades, len(d.cameras)), make([][2]int, len(d.cameras))
	return nil
}

// feature is the key of a camera.
func (d *dataset) feature(camera int) string {
	agent, name, _ := strings.Cut(d.cameras[camera], "/")
	for k, c := range d.cameras {
		if _, other, _ := strings.Cut(c, "/"); other == name && k != camera {
			name = agent + "_" + name
			break
		}
	}
	return "observation.images." + name
}

// scalars are the features of one number, each a column of its own.
var scalars = []column{{"timestamp", number, 0}, {"frame_index", integer, 0}, {"episode_index", integer, 0},
	{"index", integer, 0}, {"task_index", integer, 0}}

// vectors are the features of a number a joint.
var vectors = []string{"observation.state", "action", "sent.goal"}

func (d *dataset) layout() (list []column) {
	for _, name := range vectors {
		list = append(list, column{name, number, 1})
	}
	list = append(list, scalars...)
	list = append(list, column{"next.done", boolean, 0}, column{"next.success", boolean, 0})
	for c := range d.cameras {
		list = append(list, column{d.feature(c), picture, 0})
	}
	return list
}

// episode writes one episode, or notes why not.
func (d *dataset) episode(r *Recording, n int, t *take) error {
	result := Result{Recording: filepath.Base(r.File), Episode: n, Task: t.Task, Outcome: t.Outcome}
	add := func(notes ...string) {
		result.Note = strings.Join(notes, "; ")
		d.results = append(d.results, result)
	}
	if d.SuccessOnly && t.Outcome != teleop.MarkSuccess {
		add("left out: no success")
		return nil
	}
	l, err := resample(t, d.joints, d.cameras, d.Rate, d.Units)
	if err == nil {
		err = d.measure(l)
	}
	if err != nil {
		add("left out: " + err.Error())
		return nil
	}
	result.Frames, result.Oldest = len(l.frames), report.Number(l.oldest)
	if err := d.write(t, l); err != nil {
		return err
	}
	add(l.notes...)
	return nil
}

// measure checks the sizes of the pictures.
func (d *dataset) measure(l *reel) error {
	for c := range d.cameras {
		for k := range l.frames {
			shape, err := jpeg.DecodeConfig(bytes.NewReader(l.frames[k].shots[c]))
			if err != nil {
				return fmt.Errorf("camera %s: %w", d.cameras[c], err)
			}
			size := [2]int{shape.Height, shape.Width}
			if d.sizes[c] == [2]int{} {
				d.sizes[c] = size
			}
			if size != d.sizes[c] {
				return fmt.Errorf("camera %s: got %dx%d pixels, want %dx%d", d.cameras[c], size[1], size[0],
					d.sizes[c][1], d.sizes[c][0])
			}
		}
	}
	return nil
}

// write writes the frames of an episode.
func (d *dataset) write(t *take, l *reel) error {
	if err := d.open(); err != nil {
		return err
	}
	task := slices.Index(d.tasks, t.Task)
	if task < 0 {
		task = len(d.tasks)
		d.tasks = append(d.tasks, t.Task)
	}
	from := 0
	if n := len(d.episodes); n > 0 {
		from = d.episodes[n-1].from + d.episodes[n-1].length
	}
	e := done{task: task, length: len(l.frames), from: from, file: d.number}
	columns := make([][]float32, len(vectors)*len(d.joints)+len(scalars)+2)
	for k, f := range l.frames {
		last := k == len(l.frames)-1
		at := []float64{float64(float32(float64(k) / d.Rate)), float64(k), float64(len(d.episodes)), float64(from + k),
			float64(task), flag(last), flag(last && t.Outcome == teleop.MarkSuccess)}
		row := []any{f.state, f.action, f.sent, at[0], k, len(d.episodes), from + k, task, last, at[6] == 1}
		for _, s := range f.shots {
			row = append(row, s)
			d.written += len(s)
		}
		if err := d.data.add(row...); err != nil {
			return err
		}
		d.written += 4 * len(columns)
		for i, v := range slices.Concat(f.state, f.action, f.sent, at) {
			columns[i] = append(columns[i], float32(v))
		}
	}
	if err := d.data.out.Flush(); err != nil { // a row group an episode
		return err
	}
	for i, c := range columns {
		if d.numbers == nil {
			d.numbers = make([][]float32, len(columns))
		}
		d.numbers[i] = append(d.numbers[i], c...)
	}
	seen, err := d.look(l)
	if err != nil {
		return err
	}
	e.stats = d.stats(columns, seen)
	d.episodes = append(d.episodes, e)
	return nil
}

func flag(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// look counts the shades of some pictures of an episode.
func (d *dataset) look(l *reel) ([]shades, error) {
	seen := make([]shades, len(d.cameras))
	step := max(1, len(l.frames)/sampled)
	for c := range d.cameras {
		for k := 0; k < len(l.frames); k += step {
			if err := seen[c].add(l.frames[k].shots[c]); err != nil {
				return nil, &hal.Error{Kind: hal.Invalid, Op: "camera " + d.cameras[c], Err: err}
			}
		}
		d.shades[c].merge(&seen[c])
	}
	return seen, nil
}

// stats are the statistics of all features, in the order of layout.
func (d *dataset) stats(columns [][]float32, seen []shades) (list []*stat) {
	n := len(d.joints)
	for i := range vectors {
		list = append(list, statOf(columns[i*n:(i+1)*n]))
	}
	for i := len(vectors) * n; i < len(columns); i++ {
		list = append(list, statOf(columns[i:i+1]))
	}
	for c := range seen {
		list = append(list, seen[c].stat())
	}
	return list
}

// open opens the file of frames, or the next one where that is full.
func (d *dataset) open() (err error) {
	if d.file != nil && d.written < dataSize {
		return nil
	}
	if d.file != nil {
		if err := d.shut(); err != nil {
			return err
		}
		d.number++
	}
	d.written = 0
	if d.file, err = d.create(fmt.Sprintf(dataPath, d.number/chunk, d.number%chunk)); err != nil {
		return err
	}
	d.data = newTable(d.file, d.layout())
	return nil
}

func (d *dataset) shut() error { return errors.Join(d.data.out.Close(), d.file.Close()) }

func (d *dataset) create(name string) (*os.File, error) {
	name = filepath.Join(d.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, err
	}
	return os.Create(name)
}

// whole writes a file of one table.
func (d *dataset) whole(name string, columns []column, fill func(*table) error) error {
	f, err := d.create(name)
	if err != nil {
		return err
	}
	t := newTable(f, columns)
	return errors.Join(fill(t), t.out.Close(), f.Close())
}

// end writes the metadata, info.json last.
func (d *dataset) end() error {
	if len(d.episodes) == 0 {
		return &hal.Error{Kind: hal.Invalid, Op: "export", Err: errors.New("got no episode that can be exported")}
	}
	if err := d.shut(); err != nil {
		return err
	}
	err := d.whole("meta/tasks.parquet", []column{{"task_index", integer, 0}, {"task", text, 0}}, func(t *table) error {
		t.pandas("task")
		for i, task := range d.tasks {
			if err := t.add(i, task); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = d.writeEpisodes()
	}
	all := d.stats(d.numbers, d.shades)
	stats := map[string]map[string]any{}
	for i, c := range d.layout() {
		stats[c.name] = map[string]any{"count": []int{all[i].count}}
		for k, name := range all[i].names {
			if stats[c.name][name] = any(all[i].values[k]); c.kind == picture {
				var shaped [][][]float64 // [3, 1, 1]
				for _, v := range all[i].values[k] {
					shaped = append(shaped, [][]float64{{v}})
				}
				stats[c.name][name] = shaped
			}
		}
	}
	return cmp.Or(err, d.text("meta/stats.json", stats), d.text("meta/info.json", d.info()))
}

func (d *dataset) text(name string, v any) error {
	f, err := d.create(name)
	if err != nil {
		return err
	}
	out := json.NewEncoder(f)
	out.SetIndent("", "    ")
	return errors.Join(out.Encode(v), f.Close())
}

// writeEpisodes writes where each episode is, and its statistics.
func (d *dataset) writeEpisodes() error {
	columns := []column{{"episode_index", integer, 0}, {"tasks", text, 1}, {"length", integer, 0},
		{"data/chunk_index", integer, 0}, {"data/file_index", integer, 0}, {"dataset_from_index", integer, 0},
		{"dataset_to_index", integer, 0}, {"meta/episodes/chunk_index", integer, 0},
		{"meta/episodes/file_index", integer, 0}}
	features := d.layout()
	for i, c := range features {
		lists := 1
		if c.kind == picture {
			lists = 3
		}
		for _, name := range d.episodes[0].stats[i].names {
			columns = append(columns, column{"stats/" + c.name + "/" + name, double, lists})
		}
		columns = append(columns, column{"stats/" + c.name + "/count", integer, 1})
	}
	return d.whole("meta/episodes/chunk-000/file-000.parquet", columns, func(t *table) error {
		for i, e := range d.episodes {
			row := []any{i, []string{d.tasks[e.task]}, e.length, e.file / chunk, e.file % chunk, e.from,
				e.from + e.length, 0, 0}
			for k := range features {
				for _, v := range e.stats[k].values {
					row = append(row, v)
				}
				row = append(row, []int{e.stats[k].count})
			}
			if err := t.add(row...); err != nil {
				return err
			}
		}
		return nil
	})
}

// described is a feature in info.json.
type described struct {
	DType string   `json:"dtype"`
	Shape []int    `json:"shape"`
	Names []string `json:"names"`
}

// info is info.json.
type info struct {
	Version  string               `json:"codebase_version"`
	Robot    string               `json:"robot_type"`
	Episodes int                  `json:"total_episodes"`
	Frames   int                  `json:"total_frames"`
	Tasks    int                  `json:"total_tasks"`
	Chunk    int                  `json:"chunks_size"`
	Data     int                  `json:"data_files_size_in_mb"`
	Video    int                  `json:"video_files_size_in_mb"`
	Rate     float64              `json:"fps"`
	Splits   map[string]string    `json:"splits"`
	DataPath string               `json:"data_path"`
	VideoAt  *string              `json:"video_path"`
	Features map[string]described `json:"features"`
}

func (d *dataset) info() info {
	last := d.episodes[len(d.episodes)-1]
	i := info{version, d.RobotType, len(d.episodes), last.from + last.length, len(d.tasks), chunk, dataSize >> 20, 200,
		d.Rate, map[string]string{"train": fmt.Sprintf("0:%d", len(d.episodes))},
		"data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet", nil, map[string]described{}}
	for _, c := range d.layout() {
		f := described{DType: map[kind]string{integer: "int64", number: "float32", boolean: "bool"}[c.kind],
			Shape: []int{1}}
		if c.lists > 0 {
			f.Shape, f.Names = []int{len(d.names)}, d.names
		}
		i.Features[c.name] = f
	}
	for c := range d.cameras {
		i.Features[d.feature(c)] = described{"image", []int{d.sizes[c][0], d.sizes[c][1], 3},
			[]string{"height", "width", "channels"}}
	}
	return i
}
