package serial

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/halyard-robotics/halyard/hal"
)

// holders searches proc for the processes that have device open, by process id. hidden reports that the files of some
// processes are not visible, so that an empty list is not a proof.
func holders(proc, device string) (held []Process, hidden bool) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil, true
	}
	// Processes start and end during the search; one that cannot be read any more has ended.
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		dir := filepath.Join(proc, e.Name(), "fd")
		fds, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrPermission) {
			hidden = true
		}
		files := 0
		for _, fd := range fds {
			// The link names the node as it was opened, symlinks resolved, so texts can be compared.
			if target, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil && target == device {
				files++
			}
		}
		if files > 0 {
			held = append(held, Process{PID: pid, Command: commandOf(proc, pid), files: files})
		}
	}
	slices.SortFunc(held, func(a, b Process) int { return a.PID - b.PID })
	return held, hidden
}

// commandOf is a process's command line, or its short name where that is empty.
func commandOf(proc string, pid int) string {
	dir := filepath.Join(proc, strconv.Itoa(pid))
	line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
	if text := oneLine(string(line)); text != "" {
		return text
	}
	name, _ := os.ReadFile(filepath.Join(dir, "comm"))
	return oneLine(string(name))
}

// oneLine is a text of another program on one line, without control characters, and not longer than a terminal's.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	const most = 160
	if text = strings.Join(strings.Fields(text), " "); len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " .."
	}
	return text
}

// openFault explains why device could not be opened.
func openFault(path, device string, err error) error {
	// ENXIO, ENODEV and EIO come from a node whose adapter was just unplugged.
	kind, try := hal.Unexpected, ""
	switch {
	case errors.Is(err, errHeld):
		held, hidden := holders("/proc", device)
		kind, err = hal.Busy, errors.New(heldBy(held, hidden))
	case errors.Is(err, fs.ErrPermission):
		kind, err = hal.Busy, fmt.Errorf("permission denied: %s", denial(device))
		if group := groupOf(device); group != "" {
			try = "sudo usermod -aG " + group + " $USER, then log in again"
		}
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.ENODEV),
		errors.Is(err, syscall.EIO):
		kind = hal.Absent
	case errors.Is(err, syscall.ENOTTY), errors.Is(err, syscall.EISDIR):
		kind, err, try = hal.Invalid, errors.New("not a serial port"), "halyard ports"
	case errors.Is(err, syscall.EINVAL):
		kind = hal.Invalid
	}
	f := fault(kind, path, "open", err)
	f.Try = cmp.Or(try, f.Try)
	return f
}

// denial names the owner and group of device, and the user and groups of this process.
func denial(device string) string {
	info, err := os.Stat(device)
	if err != nil {
		return err.Error()
	}
	group := groupOf(device)
	if info.Mode().Perm()&0o060 != 0o060 || group == "" {
		return fmt.Sprintf("%s has mode %v", device, info.Mode().Perm())
	}
	return fmt.Sprintf("you are not in group %q", group)
}

// groupOf is the name of the group that owns device, or its number; "" where that is root's or not known.
func groupOf(device string) string {
	info, err := os.Stat(device)
	if err != nil {
		return ""
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || s.Gid == 0 {
		return ""
	}
	id := strconv.FormatUint(uint64(s.Gid), 10)
	if g, err := user.LookupGroupId(id); err == nil {
		return g.Name
	}
	return id
}
