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

// sockets are where the adapters of a stand are plugged in: a made-up /dev in which a stable name leads to the node that the
// kernel has given the adapter, another one each time. What is opened by a number of before is nobody's.
type sockets struct {
	root  string            // "/" of the made-up tree
	nodes map[string]string // by the adapter's stable name: "ttyUSB3"; none while it is not plugged in
	count int               // of numbers given
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

// follow is open for whoever finds the adapter by its stable name, as a real port is found.
func (s *sockets) follow(name string, open servo.Opener) servo.Opener {
	return serial.Named(s.root, name, func(_, node string) (servo.Line, error) {
		if filepath.Base(node) != s.nodes[name] {
			return nil, &hal.Error{Kind: hal.Absent, Bus: node, Op: "open", Err: servo.ErrDisconnected}
		}
		return open()
	})
}
