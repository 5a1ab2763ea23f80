package control

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
)

// Folder is where the rigs of this user have their sockets.
func Folder() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "halyard")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("halyard-%d", os.Getuid()))
}

// Folders returns all folders in which rigs of this user may have their sockets, for any XDG_RUNTIME_DIR and TMPDIR of
// the rig's process; Folder is the first. Folders that other users can access are left out.
func Folders() []string {
	list := []string{Folder()}
	own := fmt.Sprintf("halyard-%d", os.Getuid())
	for _, dir := range []string{
		filepath.Join("/run/user", fmt.Sprint(os.Getuid()), "halyard"), filepath.Join(os.TempDir(), own),
		filepath.Join("/tmp", own),
	} {
		if !slices.Contains(list, dir) && CheckFolder(dir) == nil {
			list = append(list, dir)
		}
	}
	return list
}

// CheckFolder checks that only this user can access dir: both sides refuse any other folder, since another user could
// replace a rig's socket in it. It must be a directory, not a link. The error is of kind hal.Unsafe, or hal.Absent if
// dir does not exist.
func CheckFolder(dir string) error {
	info, err := os.Lstat(dir)
	fault := func(format string, args ...any) error {
		return &hal.Error{Kind: hal.Unsafe, Op: "control folder " + dir, Err: fmt.Errorf(format, args...),
			Try: "rm -r " + dir}
	}
	switch {
	case err != nil:
		return &hal.Error{Kind: hal.Absent, Op: "control folder", Err: err, Try: "halyard serve"}
	case !info.IsDir():
		return fault("got %v, want a directory", info.Mode().Type())
	case info.Mode().Perm()&0o077 != 0:
		return fault("mode: got %04o, want 0700: others may write there", info.Mode().Perm())
	}
	if owner, known := ownerOf(info); known && owner != os.Geteuid() {
		return fault("owner: got user %d, want %d", owner, os.Geteuid())
	}
	return nil
}
