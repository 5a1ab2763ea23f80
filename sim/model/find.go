package model

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/halyard-robotics/halyard/internal/xml"
)

// A finder finds the files that a robot file names, in this order: the caller's packages; a folder with a package.xml
// of that name, above the file or beside one above it; a folder above so named; below ROS_PACKAGE_PATH; in a folder of
// GAZEBO_MODEL_PATH or GZ_SIM_RESOURCE_PATH; below AMENT_PREFIX_PATH; the rest of the name below every folder above,
// the deepest first. If there is none, the same without regard to case.
type finder struct {
	dir      string
	packages map[string]string
	meshdir  string // <mujoco><compiler meshdir>
	paths    []string
	prefixes []string
	models   []string            // of Gazebo
	named    map[string]string   // packages found below paths
	known    map[string][]string // what roots found
	moved    map[string]string   // of an archive: where files are
	looked   int                 // folders that were read
	urdf     bool                // a file that is nowhere else may be the only one of its name in the file's tree
	tree     map[string][]string // the files of that tree by the last step of their names
	guessed  map[string]bool     // those of them that were found so
}

// Bounds of a search.
const (
	maxLooked  = 20_000 // folders
	maxNesting = 6      // of packages below ROS_PACKAGE_PATH
	maxAbove   = 12     // folders above the file
)

func newFinder(dir string, packages map[string]string) *finder {
	return &finder{dir: dir, packages: packages, paths: filepath.SplitList(os.Getenv("ROS_PACKAGE_PATH")),
		prefixes: filepath.SplitList(os.Getenv("AMENT_PREFIX_PATH")),
		models: append(filepath.SplitList(os.Getenv("GAZEBO_MODEL_PATH")),
			filepath.SplitList(os.Getenv("GZ_SIM_RESOURCE_PATH"))...)}
}

// movedFiles are the files that an archive keeps elsewhere than the robot file at path says: see
// configs.Config.Archive.
func movedFiles(path string) map[string]string {
	data, err := readFile(path + ".files")
	if err != nil {
		return nil // it is in no archive
	}
	moved := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if name, to, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			moved[name] = filepath.Join(filepath.Dir(path), filepath.FromSlash(to))
		}
	}
	return moved
}

// FilesOf returns the files that reading the robot file at path opens, as meshes and as parts of it: their paths, by
// their names there; none of one with faults.
func FilesOf(path string) map[string]string {
	files := map[string]string{}
	data, err := readFile(path)
	if err != nil {
		return files
	}
	f := newMeshFinder(path, data, nil)
	_, err = ParseFile(data, path, FileOptions{Open: func(name string) (io.ReadCloser, error) {
		at, in, err := f.open(name)
		if err == nil {
			files[name] = at
		}
		return in, err
	}})
	if err != nil {
		return nil // what it names may be any file
	}
	return files
}

// meshFolder is the meshdir of a URDF for MuJoCo.
func meshFolder(data []byte) (dir string, urdf bool) {
	root, err := xml.Read(data, xml.Limits{})
	if err != nil || root.Name != "robot" {
		return "", false
	}
	if m := root.Child("mujoco"); m != nil && m.Child("compiler") != nil {
		dir = m.Child("compiler").Get("meshdir")
	}
	return filepath.FromSlash(dir), true
}

// find returns the path of a file, and the folder of its package; "" if it is in none.
func (f *finder) find(name string) (root, path string, err error) {
	if at, ok := f.moved[name]; ok {
		return "", at, nil
	}
	for _, scheme := range []string{"package://", "model://"} {
		if rest, ok := strings.CutPrefix(name, scheme); ok {
			return f.packaged(rest)
		}
	}
	if file, ok := strings.CutPrefix(name, "file://"); ok {
		return "", filepath.FromSlash(file), nil
	} else if filepath.IsAbs(name) {
		return "", name, nil
	}
	name = filepath.FromSlash(strings.ReplaceAll(name, `\`, "/"))
	plain := filepath.Join(f.dir, name)
	candidates := []string{plain}
	if f.meshdir != "" {
		candidates = []string{filepath.Join(f.dir, f.meshdir, name),
			filepath.Join(f.dir, f.meshdir, filepath.Base(name)), plain}
	}
	for _, fold := range []bool{false, true} {
		for _, c := range candidates {
			if at, ok := there(c, fold); ok {
				return "", at, nil
			}
		}
	}
	if at, ok := f.only(name); ok {
		return "", at, nil
	}
	return "", plain, nil // whose opening says that there is no such file
}

// packaged finds PACKAGE/FILE.
func (f *finder) packaged(rest string) (root, path string, err error) {
	pack, file, _ := strings.Cut(rest, "/")
	file = filepath.FromSlash(file)
	dir, err := filepath.Abs(f.dir)
	if err != nil {
		return "", "", err
	}
	roots, known := f.known[pack]
	if !known {
		if f.known == nil {
			f.known = map[string][]string{}
		}
		roots = f.roots(dir, pack)
		f.known[pack] = roots
	}
	for _, fold := range []bool{false, true} {
		for _, r := range roots {
			if at, ok := there(filepath.Join(r, file), fold); ok {
				return r, at, nil
			}
		}
		for n, up := 0, dir; n < maxAbove; n, up = n+1, filepath.Dir(up) {
			for _, name := range []string{filepath.Join(pack, file), file} {
				if at, ok := there(filepath.Join(up, name), fold); ok && filepath.IsLocal(name) {
					return "", at, nil // of no package: a viewer gets it from the file's own tree alone
				}
			}
			if up == filepath.Dir(up) {
				break
			}
		}
	}
	if at, ok := f.only(file); ok {
		return "", at, nil
	}
	if len(roots) > 0 {
		return roots[0], filepath.Join(roots[0], file), nil
	}
	return "", "", fmt.Errorf("package %q: got no folder of that name above %s, nor a package.xml with it there, "+
		"beside, or below ROS_PACKAGE_PATH", pack, dir)
}

// only is the one file of a name in the URDF's own tree, wherever it is there.
func (f *finder) only(name string) (at string, ok bool) {
	if dir, err := filepath.Abs(f.dir); err == nil && f.urdf && f.tree == nil {
		f.tree, f.guessed = map[string][]string{}, map[string]bool{}
		seen := 0
		filepath.WalkDir(treeOf(dir), func(path string, e fs.DirEntry, err error) error {
			if seen++; err != nil || seen > maxLooked {
				return fs.SkipAll
			}
			f.tree[e.Name()] = append(f.tree[e.Name()], path)
			return nil
		})
	}
	list := f.tree[filepath.Base(name)]
	if len(list) != 1 {
		return "", false
	}
	f.guessed[list[0]] = true
	return list[0], true
}

// roots are the folders that may be a package, the likeliest first.
func (f *finder) roots(dir, pack string) (list []string) {
	add := func(r string) { list = append(list, r) }
	if r, known := f.packages[pack]; known {
		add(r)
	}
	for n, up := 0, dir; n < maxAbove; n, up = n+1, filepath.Dir(up) {
		if packageName(up) == pack {
			add(up)
		}
		beside := f.folders(up)
		for _, s := range beside {
			if packageName(s) == pack {
				add(s)
			}
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	for up := dir; ; up = filepath.Dir(up) {
		if filepath.Base(up) == pack {
			add(up)
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	if f.named == nil {
		f.named = map[string]string{}
		for _, p := range f.paths {
			f.crawl(p, 0)
		}
	}
	if r, ok := f.named[pack]; ok {
		add(r)
	}
	for _, p := range f.models {
		if is, err := os.Stat(filepath.Join(p, pack)); p != "" && err == nil && is.IsDir() {
			add(filepath.Join(p, pack))
		}
	}
	for _, p := range f.prefixes {
		if at := filepath.Join(p, "share", pack); p != "" {
			if is, err := os.Stat(at); err == nil && is.IsDir() {
				add(at)
			}
		}
	}
	return list
}

// crawl names the packages below dir; it stops below one, and where a tool of ROS is told to.
func (f *finder) crawl(dir string, deep int) {
	if name := packageName(dir); name != "" {
		if _, have := f.named[name]; !have {
			f.named[name] = dir
		}
		return
	}
	for _, ignore := range []string{"AMENT_IGNORE", "CATKIN_IGNORE", "COLCON_IGNORE"} {
		if _, err := os.Stat(filepath.Join(dir, ignore)); err == nil {
			return
		}
	}
	if deep < maxNesting && dir != "" {
		for _, s := range f.folders(dir) {
			f.crawl(s, deep+1)
		}
	}
}

// folders are those in dir.
func (f *finder) folders(dir string) (list []string) {
	if f.looked++; f.looked > maxLooked {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	entries, _ := d.ReadDir(maxLooked) // what can be read is looked at
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	return list
}

var packageTag = regexp.MustCompile(`<name>\s*([^<\s]+)\s*</name>`)

// packageName is the name in a folder's package.xml, or "".
func packageName(dir string) string {
	path := filepath.Join(dir, "package.xml")
	if is, err := os.Stat(path); err != nil || !is.Mode().IsRegular() || is.Size() > 1<<20 {
		return ""
	}
	data, err := os.ReadFile(path)
	if m := packageTag.FindSubmatch(data); err == nil && m != nil {
		return string(m[1])
	}
	return ""
}

// there reports whether path is a file; with fold its last step may differ in case.
func there(path string, fold bool) (string, bool) {
	if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return path, true
	}
	if !fold {
		return "", false
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return "", false
	}
	for _, e := range entries {
		if strings.EqualFold(e.Name(), filepath.Base(path)) {
			return filepath.Join(filepath.Dir(path), e.Name()), true
		}
	}
	return "", false
}
