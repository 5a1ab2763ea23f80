//go:build unix

package host

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// ownerGroup is the group whose members may read and write a file; "" where that is root's.
func ownerGroup(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || s.Gid == 0 || info.Mode().Perm()&0o060 != 0o060 {
		return ""
	}
	id := strconv.FormatUint(uint64(s.Gid), 10)
	if g, err := user.LookupGroupId(id); err == nil {
		return g.Name
	}
	return id
}

// accessible reports whether this process may read and write a file. The file is not opened.
func accessible(path string) bool { return syscall.Access(path, 6) == nil }
