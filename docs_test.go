package halyard_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard"
)

// The code of docs/go.md is that of the examples, which are tests; its table has every driver with all its examples.
func TestGoPage(t *testing.T) {
	page, err := os.ReadFile("docs/go.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(page), "```go\n")
	link := regexp.MustCompile(`\]\(\.\./([\w/]+_test\.go)\)`)
	for i, part := range parts[1:] {
		code, _, _ := strings.Cut(part, "```")
		links := link.FindAllStringSubmatch(parts[i], -1)
		if len(links) == 0 {
			t.Fatalf("block %d: no link to its file before it", i+1)
		}
		file := links[len(links)-1][1]
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "\n"+code) {
			t.Errorf("block %d: not the text of %s, %v", i+1, file, err)
		}
	}
	if len(parts) != 4 {
		t.Errorf("got %d examples, want 3", len(parts)-1)
	}
	rows := map[string][]string{}
	name := regexp.MustCompile("`(Example\\w*)`")
	for _, row := range regexp.MustCompile(`(?m)^\| \[([\w/]+)\]\(\.\./[\w/]+\) \|.*\| (.*) \|$`).FindAllStringSubmatch(
		string(page), -1) {
		for _, m := range name.FindAllStringSubmatch(row[2], -1) {
			rows[row[1]] = append(rows[row[1]], m[1])
		}
	}
	for dir, has := range examples(t) {
		want := slices.Sorted(slices.Values(rows[dir]))
		if slices.Sort(has); len(has) == 0 || !slices.Equal(has, want) {
			t.Errorf("%s: has the examples %q, the table %q", dir, has, want)
		}
		delete(rows, dir)
	}
	for dir := range rows {
		t.Errorf("%s: in the table, and no package of drivers", dir)
	}
}

// examples are those of each package of drivers, and of those of sim/emulator that have some.
func examples(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}", "./servo/...", "./drivers/...",
		"./sim/emulator/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for path := range strings.Lines(string(out)) {
		dir := strings.TrimPrefix(strings.TrimSpace(path), module)
		var names []string
		text, err := os.ReadFile(filepath.Join(filepath.FromSlash(dir), "example_test.go"))
		for _, m := range regexp.MustCompile(`(?m)^func (Example\w*)\(\)`).FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
		if slices.Contains(toTests, dir) || strings.HasPrefix(dir, "sim/") && err != nil {
			continue
		}
		all[dir] = names
	}
	return all
}

// CI and a new user run the tests by the README's command.
func TestReadmeNamesTheTestCommand(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^go test \./\.\.\.`).Match(page) {
		t.Error("README.md: no line that begins with go test ./...")
	}
}

// Each whole config of a page, a block that begins with its name, is one that serve takes.
func TestDocsConfigs(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir() // of the page's robot files too, which its configs name
		for i, part := range strings.Split(string(text), "```yaml\n")[1:] {
			block, _, _ := strings.Cut(part, "```")
			name, _, _ := strings.Cut(strings.TrimPrefix(block, "name: "), "\n")
			if !strings.HasPrefix(block, "name: ") {
				continue
			}
			file := filepath.Join(dir, name+".yaml")
			if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(block, "\nagents:") {
				continue
			}
			found++
			if _, err := halyard.Check(file); err != nil {
				t.Errorf("%s: yaml block %d: %v", page, i+1, err)
			}
		}
	}
	if found < 4 {
		t.Errorf("got %d configs in the pages, want 4 or more", found)
	}
}
