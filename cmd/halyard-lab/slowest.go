package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/command"
)

// newSlowest creates the sub-command, which CI runs on its tests.
func newSlowest(p *command.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "slowest",
		Short: "show failed and slow tests of go test -json",
		Long: "Reads the output of go test -json and prints that of the tests and packages that failed, then the " +
			"ten slowest packages and\n" +
			"tests, and how many tests passed. The exit code is 8 if a test failed.",
		Example: "  go test -json ./... | halyard-lab slowest",
		Args:    command.Arguments("", "go test -json ./... | halyard-lab slowest"),
		RunE:    func(*cobra.Command, []string) error { return slowest(p.In, p.Out) },
	}
}

// event is one line of "go test -json". The errors of a build have an ImportPath in place of a Package.
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

type timed struct {
	name    string
	seconds float64
}

const rows = 10

// unended are the tests of a package that has failed which neither passed nor failed, as after a timeout or the end of
// the process.
func unended(output map[[2]string][]string, of [2]string) (list [][2]string) {
	for k := range output {
		if of[1] == "" && k[0] == of[0] && k[1] != "" {
			list = append(list, k)
		}
	}
	slices.SortFunc(list, func(a, b [2]string) int { return cmp.Compare(a[1], b[1]) })
	return list
}

// slowest copies the output of failed tests from in to out, and the slowest tests.
func slowest(from io.Reader, out io.Writer) error {
	output := map[[2]string][]string{} // by package and test, until it has passed
	var packages, tests []timed
	failed := 0
	ended := map[string]int{} // tests, by how they did
	in := bufio.NewScanner(from)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var e event
		if json.Unmarshal(in.Bytes(), &e) != nil {
			fmt.Fprintln(out, in.Text()) // go's own errors are no JSON
			continue
		}
		key := [2]string{cmp.Or(e.Package, e.ImportPath), e.Test}
		switch e.Action {
		case "output", "build-output":
			output[key] = append(output[key], e.Output)
			continue
		case "fail", "build-fail":
			failed++
			fmt.Fprintf(out, "FAILED %s %s\n%s", key[0], e.Test, strings.Join(output[key], ""))
			for _, k := range unended(output, key) {
				fmt.Fprintf(out, "NOT ENDED %s %s\n%s", k[0], k[1], strings.Join(output[k], ""))
				delete(output, k)
			}
			fallthrough
		case "pass", "skip":
			delete(output, key)
		default:
			continue
		}
		if e.Test != "" {
			ended[e.Action]++
		}
		if e.Test == "" {
			packages = append(packages, timed{key[0], e.Elapsed})
		} else if !strings.Contains(e.Test, "/") {
			tests = append(tests, timed{key[0] + " " + e.Test, e.Elapsed})
		}
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("slowest: read go test -json: %w", err)
	}
	for _, t := range []struct {
		title string
		list  []timed
	}{{"packages", packages}, {"tests", tests}} {
		slices.SortFunc(t.list, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
		fmt.Fprintf(out, "the slowest of %d %s:\n", len(t.list), t.title)
		for _, row := range t.list[:min(rows, len(t.list))] {
			fmt.Fprintf(out, "%8.1f s  %s\n", row.seconds, row.name)
		}
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", ended["pass"], ended["fail"], ended["skip"])
	if failed > 0 || len(packages) == 0 {
		return &hal.Error{Kind: hal.Differs, Op: "slowest", Err: fmt.Errorf("got %d failures in %d packages, want none",
			failed, len(packages))}
	}
	return nil
}
