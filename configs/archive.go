package configs

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/halyard-robotics/halyard/hal"
)

// The bounds of an Archive.
const (
	maxArchived     = 200
	maxArchivedSize = 32 << 20 // bytes a file
)

// Archive is a config with all files that it needs, by which it can be read again elsewhere.
type Archive struct {
	Config  []byte // the document
	Options Options
	Files   map[string][]byte // by path below the config's folder
	Absent  []string          // files that were named and could not be taken
}

// fileNames finds possible file names in a text: words that end in a dot and a suffix.
var fileNames = regexp.MustCompile(`[^\s"'<>=,;(){}\[\]|]+\.[A-Za-z][A-Za-z0-9]{0,7}\b`)

// Archive collects the sources of c: the document, the options, the files that they name, and the files that these name in
// turn. A file outside the config's folder is stored under outside/ if the config itself names it. The error is hal.Invalid
// if c was not read by this package.
func (c *Config) Archive() (*Archive, error) {
	if c.data == nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "archive", Err: errMadeByHand}
	}
	a := &Archive{Config: slices.Clone(c.data), Options: c.options, Files: map[string][]byte{}}
	a.Options.Set = slices.Clone(c.options.Set)
	texts := append([]string{string(c.data)}, c.options.Set...)
	for _, name := range fileNames.FindAllString(strings.Join(texts, "\n"), -1) {
		name = strings.TrimPrefix(name, "model:")
		local := filepath.ToSlash(filepath.Clean(name))
		if !filepath.IsLocal(name) {
			local = fmt.Sprintf("outside/%d/%s", len(a.Files), filepath.Base(name))
		}
		if name == c.Record.File { // an output file
			continue
		}
		if a.take(c.Resolve(name), local) && local != name {
			a.Config = bytes.ReplaceAll(a.Config, []byte(name), []byte(local))
			for i := range a.Options.Set {
				a.Options.Set[i] = strings.ReplaceAll(a.Options.Set[i], name, local)
			}
		}
	}
	slices.Sort(a.Absent)
	return a, nil
}

// take adds the file at from, and the files that it names in its folder. It reports whether the file exists.
func (a *Archive) take(from, name string) bool {
	info, err := os.Stat(from)
	if _, have := a.Files[name]; have || err != nil || !info.Mode().IsRegular() {
		return have
	}
	var data []byte
	if len(a.Files) < maxArchived && info.Size() <= maxArchivedSize {
		data, err = os.ReadFile(from)
	} else {
		err = cmp.Or(err, os.ErrInvalid)
	}
	if err != nil {
		a.Absent = append(a.Absent, name)
		return false
	}
	a.Files[name] = data
	if !utf8.Valid(data) {
		return true
	}
	for _, inner := range fileNames.FindAllString(string(data), maxArchived*10) {
		if rest, ok := strings.CutPrefix(inner, "package://"); ok {
			a.takePackaged(from, name, rest)
			continue
		}
		outer := filepath.Join(filepath.Dir(from), inner)
		if inside := path.Join(path.Dir(name), filepath.ToSlash(inner)); filepath.IsLocal(inside) {
			a.take(outer, inside)
		} else if info, err := os.Stat(outer); err == nil && info.Mode().IsRegular() {
			a.Absent = append(a.Absent, inner)
		}
	}
	return true
}

// takePackaged adds a file that the one at from, called name here, names by its package: PACKAGE/FILE, in the nearest folder above it
// called PACKAGE. One whose package is not a folder of the archive is absent, since no reader would find it there.
func (a *Archive) takePackaged(from, name, file string) {
	pack, rest, _ := strings.Cut(file, "/")
	outer, inner := filepath.Dir(from), path.Dir(name)
	for ; inner != "." && path.Base(inner) != pack; inner = path.Dir(inner) {
		outer = filepath.Dir(outer)
	}
	if within := path.Join(inner, rest); inner != "." && filepath.IsLocal(rest) {
		a.take(filepath.Join(outer, filepath.FromSlash(rest)), within)
	} else if lost := "package://" + file; len(a.Absent) < maxArchived && !slices.Contains(a.Absent, lost) {
		a.Absent = append(a.Absent, lost)
	}
}

// Extract writes a's files below dir and reads the config again, as it was there.
func (a *Archive) Extract(dir, source string) (*Config, error) {
	for name, data := range a.Files {
		if !filepath.IsLocal(name) {
			return nil, &hal.Error{Kind: hal.Invalid, Op: "extract", Err: fmt.Errorf("got %q, want a path within the folder", name)}
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(to, data, 0o600); err != nil {
			return nil, err
		}
	}
	c, err := draft(a.Config, source, a.Options)
	if c != nil {
		c.Dir = dir
	}
	return c, err
}
