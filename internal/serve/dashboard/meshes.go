package dashboard

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/mesh"
	"github.com/halyard-robotics/halyard/sim/model"
)

// The triangles that a browser is sent, 36 bytes each: of one mesh, and of all meshes of one robot together.
const (
	maxMesh      = 20_000
	maxMeshes    = 100_000
	leastOfAMesh = 12
)

// meshFile is a mesh of a URDF, as a browser draws it.
type meshFile struct {
	folder, name string
	scale        [3]float64
	most         int // triangles
}

// meshCache holds the meshes of the newest scenes that a browser was sent.
type meshCache struct {
	reading sync.Mutex // one file at a time; locked before mu

	mu         sync.Mutex // never held while a file is read: the sampler waits for it
	generation uint32
	list       []meshFile
	read       map[meshFile][]byte // those that were asked for
}

// put replaces the meshes by those of the scenes of a generation. What was read of a mesh that stays is kept.
func (s *meshCache) put(generation uint32, list []meshFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.read
	s.generation, s.list, s.read = generation, list, map[meshFile][]byte{}
	for _, f := range list {
		if b := old[f]; b != nil {
			s.read[f] = b
		}
	}
}

// find returns mesh i of a generation, and what was read of it or nil.
func (s *meshCache) find(generation uint32, i int) (meshFile, []byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if generation != s.generation || i < 0 || i >= len(s.list) {
		return meshFile{}, nil, fmt.Errorf("mesh: got %d of scene %d, want a mesh of the newest scene", i, generation)
	}
	return s.list[i], s.read[s.list[i]], nil
}

// get returns a mesh as it is sent. It reads the file the first time, and waits for other files that are being read.
func (s *meshCache) get(generation uint32, i int) ([]byte, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	f, b, err := s.find(generation, i)
	if err != nil || b != nil {
		return b, err
	}
	if b, err = f.encode(); err != nil {
		return nil, fmt.Errorf("mesh %q: %w", f.name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.list, f) {
		s.read[f] = b
	}
	return b, nil
}

// encode reads the file: u32 triangles in it and in what follows, then x y z of each corner as float32, little-endian,
// in metres.
func (f *meshFile) encode() ([]byte, error) {
	file, err := model.OpenMesh(f.folder, f.name)
	if err != nil {
		return nil, err
	}
	defer file.Close() // read only: an error has no effect
	d, err := mesh.Read(f.name, file, f.scale, f.most)
	if err != nil {
		return nil, err
	}
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, 8+4*len(d.Corners)), uint32(d.Whole))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(d.Corners)/9))
	for _, x := range d.Corners {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b, nil
}

// mesh answers with a mesh of the scene.
func (s *Server) mesh(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	generation, err := strconv.ParseUint(q.Get("generation"), 10, 32)
	if err != nil {
		http.Error(w, "generation: want a number", http.StatusBadRequest)
		return
	}
	i, err := strconv.Atoi(q.Get("mesh"))
	if err != nil {
		http.Error(w, "mesh: want a number", http.StatusBadRequest)
		return
	}
	b, err := s.meshes.get(uint32(generation), i)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Write(b)
}

// modelOf is the model of an agent's body; nil without one.
func (r *shown) modelOf(agent string) (m *model.Robot) {
	if p := r.System.Plan.Agent(agent); p != nil {
		return p.Robot
	}
	r.Rig.BetweenCycles(func() {
		if b := r.System.Scene.Body(agent); b != nil { // it was spawned
			m = b.Model()
		}
	})
	return m
}

// lookCollector collects the looks and mesh files that are drawn in place of the shapes of the physics.
type lookCollector struct {
	files  []meshFile
	groups int
}

// add adds the looks of the bodies of a rig to text, and marks the shapes that they replace.
func (c *lookCollector) add(r *shown, parts []hal.Part, text *sceneText) {
	models := map[string]*model.Robot{}
	for body, p := range parts {
		if p.Agent == "" {
			continue
		}
		m, known := models[p.Agent]
		if !known {
			m = r.modelOf(p.Agent)
			models[p.Agent] = m
		}
		if m == nil || m.Folder == "" {
			continue
		}
		k := slices.IndexFunc(m.Bodies, func(b model.Body) bool { return b.Name == p.Body })
		if k < 0 {
			continue
		}
		var shapes []int // of the body, in text
		for i := range text.Shapes {
			if text.Shapes[i].Body == body {
				shapes = append(shapes, i)
			}
		}
		most := m.Meshes()
		group := [2]int{-1, -1}
		for _, l := range m.Bodies[k].Looks {
			if next := [2]int{l.First, l.End}; next != group || l.First == l.End {
				group = next
				c.groups++
				for _, i := range shapes[min(l.First, len(shapes)):min(l.End, len(shapes))] {
					text.Shapes[i].Group = c.groups
				}
			}
			text.Looks = append(text.Looks, c.encode(m.Folder, most, body, &l))
		}
	}
}

// encode returns a look of a body as text.
func (c *lookCollector) encode(folder string, meshes, body int, l *model.Look) shapeText {
	t := shapeText{Kind: l.Shape.Kind.String(), Body: body, Radius: l.Shape.Radius, At: flat(l.Shape.Pose),
		Colour: [3]float64{0.6, 0.6, 0.6}, Group: c.groups}
	if l.Shape.Half != [3]float64{} {
		t.Half = &l.Shape.Half
	}
	if l.Mesh != "" {
		f := meshFile{folder, l.Mesh, l.Scale, max(leastOfAMesh, min(maxMesh, maxMeshes/max(1, meshes)))}
		t.Kind, t.Mesh = "mesh", slices.Index(c.files, f)
		if t.Mesh == hal.None {
			t.Mesh = len(c.files)
			c.files = append(c.files, f)
		}
	}
	return t
}
