package haltest

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Capture returns the lines of a file of bytes that real devices sent, without its first line, which states device and
// origin. The files are next to the repository, in shared/data/captures; if they are missing the test is skipped.
func Capture(t testing.TB, name string) []string {
	t.Helper()
	root, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(root, "go.mod")); missing == nil || filepath.Dir(root) == root {
			break
		}
		root = filepath.Dir(root)
	}
	text, err := os.ReadFile(filepath.Join(root, "..", "shared", "data", "captures", name))
	if err != nil {
		t.Skipf("no captured bytes: %v", err)
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return lines[1:]
}

// Bytes returns the bytes of hexadecimal pairs with spaces between them.
func Bytes(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatalf("bytes %q: %v", text, err)
	}
	return b
}
