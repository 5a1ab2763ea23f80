package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// sockets are the ports of a test rig's adapters: an imitation of /dev in which a stable name links to the node of the
// adapter. The node's number changes with each plugging, and an old number opens no adapter.
type sockets struct {
	root  string            // "/" of the made-up tree
	nodes map[string]string // by the adapter's stable name: "ttyUSB3"; none while it is not plugged in
	count int               // numbers assigned so far
}

// plug gives the adapter called name the next number.
func (s *sockets) plug(name string) error {
	node := fmt.Sprintf("ttyUSB%d", s.count)
	link := filepath.Join(s.root, name)
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		return err
	}
	to := filepath.Join(s.root, "dev", node)
	s.count++
	s.nodes[name] = node
	return errors.Join(os.WriteFile(to, nil, 0o600), os.Symlink(to, link))
}

// unplug takes its node and its name away.
func (s *sockets) unplug(name string) error {
	node := s.nodes[name]
	delete(s.nodes, name)
	return errors.Join(os.Remove(filepath.Join(s.root, name)), os.Remove(filepath.Join(s.root, "dev", node)))
}

// follow returns an opener that finds the adapter by its stable name, as for a real port.
func (s *sockets) follow(name string, open servo.Opener) servo.Opener {
	return serial.Named(s.root, name, func(_, node string) (servo.Line, error) {
		if filepath.Base(node) != s.nodes[name] {
			return nil, &hal.Error{Kind: hal.Absent, Bus: node, Op: "open", Err: servo.ErrDisconnected}
		}
		return open()
	})
}
