package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/internal/commission/doctor"
)

// The page of the tools has every check that a fault is named by, and every sub-command of the tools.
func TestToolsDoc(t *testing.T) {
	data, err := os.ReadFile("../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, l := range doctor.FaultCases() {
		if l.Check != "" && !strings.Contains(page, "`"+l.Check+"`") {
			t.Errorf("docs/tools.md: lacks the check %s, by which %q is named", l.Check, l.Name)
		}
	}
	a := &app{}
	for _, c := range a.commands() {
		for _, sub := range c.Commands() {
			if want := "halyard " + c.Name() + " " + sub.Name(); !strings.Contains(page, want) {
				t.Errorf("docs/tools.md: lacks %s", want)
			}
		}
	}
	for _, name := range []string{"ports", "scan", "setup", "registers", "doctor", "emulate"} {
		if !strings.Contains(page, "\n## "+name+": ") {
			t.Errorf("docs/tools.md: lacks a section of %s", name)
		}
	}
}

// Every command line of the pages is one that the program takes, with its flags; and every page that a page links to
// exists.
func TestDocumentedCommands(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, page := range append(pages, "../README.md") {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(data), "\n") {
			for _, link := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(line, -1) {
				if _, err := os.Stat(filepath.Join(filepath.Dir(page), link[1])); err != nil {
					t.Errorf("%s:%d: leads to %s, which is not there", filepath.Base(page), n+1, link[1])
				}
			}
			for _, text := range commandsIn(line) {
				tried++
				if err := understood(text); err != nil {
					t.Errorf("%s:%d: halyard %s: %v", filepath.Base(page), n+1, text, err)
				}
			}
		}
	}
	// So is every example of the help.
	var helped func(c *cobra.Command)
	helped = func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			text, ours := strings.CutPrefix(strings.TrimSpace(line), "halyard ")
			if err := understood(text); err != nil || !ours {
				t.Errorf("%s: example %q: %v", c.CommandPath(), line, err)
			}
		}
		for _, sub := range c.Commands() {
			helped(sub)
		}
	}
	helped((&app{}).root())
	for _, wrong := range []string{"srve so101", "serve so101 --nope", "registers red PORT", "doctor so101 --fault"} {
		if understood(wrong) == nil {
			t.Errorf("halyard %s: understood", wrong)
		}
	}
	if tried < 100 {
		t.Errorf("got %d command lines: where are the others?", tried)
	}
}

// commandsIn finds what stands behind "halyard " at the beginning of a line of a block, and in `halyard ...`.
func commandsIn(line string) (list []string) {
	if m := regexp.MustCompile(`^(?:\$ |go run \./cmd/)?halyard ([a-z].*)$`).FindStringSubmatch(line); m != nil {
		list = append(list, m[1])
	}
	for _, m := range regexp.MustCompile("`(?:go run \\./cmd/)?halyard ([a-z][^`]*)`").FindAllStringSubmatch(line, -1) {
		list = append(list, m[1])
	}
	return list
}

// understood parses a command line of a page as far as its flags and how many arguments it takes.
func understood(text string) error {
	text, _, _ = strings.Cut(text, "  #")
	for _, end := range []string{" # ", " | ", ` \| `, " > ", " && ", "; ", " ..."} {
		text, _, _ = strings.Cut(text, end)
	}
	var args []string
	for _, m := range regexp.MustCompile(`'([^']*)'|"([^"]*)"|(\S+)`).FindAllStringSubmatch(strings.TrimSpace(text),
		-1) {
		args = append(args, m[1]+m[2]+m[3])
	}
	root := (&app{}).root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	c, rest, err := root.Find(args)
	if err != nil || c == root {
		return fmt.Errorf("no such command: %v", err)
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	if left := c.Flags().Args(); len(left) > 0 && c.HasSubCommands() && c.Use == c.Name() {
		return fmt.Errorf("no such sub-command: %s", left[0])
	}
	return nil
}
