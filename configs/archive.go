package configs

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

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

// Archive collects the sources of c: the document, the options, the files of its keys that name files, and the meshes
// of these. A file outside the config's folder is stored under outside/ if the config itself names it, or if a robot
// file needs it: opens returns the files that reading the robot file at path opens, their paths by their names there; a
// file beside the robot file then says where each is. The error is hal.Invalid if c was not read by this package.
func (c *Config) Archive(opens func(path string) map[string]string) (*Archive, error) {
	if c.data == nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "archive", Err: errMadeByHand}
	}
	a := &Archive{Config: slices.Clone(c.data), Options: c.options, Files: map[string][]byte{}}
	a.Options.Set = slices.Clone(c.options.Set)
	for _, name := range filesOf(reflect.ValueOf(*c), nil) {
		local := filepath.ToSlash(filepath.Clean(name))
		if !filepath.IsLocal(name) {
			local = fmt.Sprintf("outside/%d/%s", len(a.Files), filepath.Base(name))
		}
		taken := a.take(c.Resolve(name), local)
		if taken && bytes.HasPrefix(bytes.TrimSpace(a.Files[local]), []byte("<")) {
			a.takeOpened(local, c.Resolve(name), opens(c.Resolve(name)))
		}
		if taken && local != name {
			a.Config = bytes.ReplaceAll(a.Config, []byte(name), []byte(local))
			for i := range a.Options.Set {
				a.Options.Set[i] = strings.ReplaceAll(a.Options.Set[i], name, local)
			}
		}
	}
	slices.Sort(a.Absent)
	return a, nil
}

// Names are the files of a, sorted.
func (a *Archive) Names() []string { return slices.Sorted(maps.Keys(a.Files)) }

// Outside lists the files that c names outside its folder: by an absolute path, or one that leads up.
func (c *Config) Outside() (list []string) {
	for _, name := range filesOf(reflect.ValueOf(*c), nil) {
		if !filepath.IsLocal(name) {
			list = append(list, name)
		}
	}
	return list
}

// filesOf appends the values of v's fields that have the tag file and can be paths.
func filesOf(v reflect.Value, list []string) []string {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			list = filesOf(v.Elem(), list)
		}
	case reflect.Slice:
		for i := range v.Len() {
			list = filesOf(v.Index(i), list)
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, k := range keys {
			list = filesOf(v.MapIndex(k), list)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch f := v.Type().Field(i); {
			case f.Tag.Get("file") != "":
				name := v.Field(i).String()
				if path := f.Tag.Get("file") == "path" || strings.ContainsAny(name, "./"); path && name != "" &&
					!slices.Contains(list, name) {
					list = append(list, name)
				}
			case f.IsExported() && f.Tag.Get("yaml") != "-":
				list = filesOf(v.Field(i), list)
			}
		}
	}
	return list
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
	for _, inner := range meshesOf(data) {
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

// takeOpened adds the files that reading the robot file at from, called name here, opens, and a list of those that are
// elsewhere than their names say: see movedEnd.
func (a *Archive) takeOpened(name, from string, opened map[string]string) {
	var list strings.Builder
	for _, as := range slices.Sorted(maps.Keys(opened)) {
		inside := path.Join(path.Dir(name), filepath.ToSlash(as))
		if filepath.IsLocal(as) && filepath.Join(filepath.Dir(from), filepath.FromSlash(as)) == opened[as] {
			a.take(opened[as], inside)
			continue
		}
		to := fmt.Sprintf("outside/%d/%s", len(a.Files), filepath.Base(opened[as]))
		if a.take(opened[as], to) {
			fmt.Fprintf(&list, "%s\t%s%s\n", as, strings.Repeat("../", strings.Count(name, "/")), to)
			a.Absent = slices.DeleteFunc(a.Absent, func(absent string) bool { return absent == as })
		}
	}
	if list.Len() > 0 {
		a.Files[name+movedEnd] = []byte(list.String())
	}
}

// movedEnd is the suffix of a robot file's manifest in an archive. The manifest has a line for each file that the robot
// file names: the name, a tab, and the path from the robot file's folder.
const movedEnd = ".files"

// meshesOf are the files that a robot file in XML names in attributes; none of another file.
func meshesOf(data []byte) (list []string) {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("<")) {
		return nil
	}
	for d := xml.NewDecoder(bytes.NewReader(data)); len(list) < maxArchived*10; {
		t, err := d.RawToken()
		if err != nil {
			break
		}
		start, _ := t.(xml.StartElement)
		for _, a := range start.Attr {
			if (a.Name.Local == "filename" || a.Name.Local == "file") && !slices.Contains(list, a.Value) {
				list = append(list, a.Value)
			}
		}
	}
	return list
}

// takePackaged adds a file that the one at from, called name here, names by its package: PACKAGE/FILE, in the nearest
// folder above it called PACKAGE. One whose package is not a folder of the archive is absent, since no reader would
// find it there.
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
			return nil, &hal.Error{Kind: hal.Invalid, Op: "extract",
				Err: fmt.Errorf("got %q, want a path within the folder", name)}
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
