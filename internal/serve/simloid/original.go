package simloid

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/simloidconf"
	"github.com/halyard-robotics/halyard/protocols/simloid"
	"github.com/halyard-robotics/halyard/sim/model"
)

// Original is the command line of the original simulator, and ours of it.
type Original struct {
	Ports   []int
	Robots  []string // ids, names or files
	Scene   string   // id, name or file
	Listen  []string // HOST:PORT instead of a port
	Dialect string
	Exact   bool // no noise
	Keep    bool // it stays when its client has left
	Set     []string
}

// Fault is an argument that is not what it must be.
func Fault(what, got, want string) *hal.Error {
	return &hal.Error{Kind: hal.Invalid, Op: "simloid: " + what, Err: fmt.Errorf("got %s, want %s", got, want)}
}

// Configs makes a config for each pair of robot and port; conf has the values that the command line omits.
func (f *Original) Configs(conf *simloidconf.Conf) ([]*configs.Config, error) {
	scene, err := simloidScene(f.Scene, conf.Scene)
	if err != nil {
		return nil, err
	}
	var list []*configs.Config
	for i := range max(1, len(f.Ports), len(f.Robots), len(f.Listen)) {
		robot, err := simloidModel(f.Robots, i, conf.Robot)
		if err != nil {
			return nil, err
		}
		agent := "robot"
		if i > 0 {
			agent += strconv.Itoa(i + 1)
		}
		c, err := f.config(i, agent, robot, scene, conf)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// Address is where robot i is served; ports that were not given count up.
func (f *Original) Address(i, port int) string {
	if i < len(f.Listen) {
		return strings.TrimPrefix(f.Listen[i], "simloid=")
	}
	switch n := len(f.Ports); {
	case i < n:
		port = f.Ports[i]
	case n > 0 && f.Ports[n-1] > 0:
		port = f.Ports[n-1] + i - n + 1
	case n == 0 && port > 0:
		port += i
	}
	return "127.0.0.1:" + strconv.Itoa(port)
}

// config is that of one robot. It goes the way of every config, so that all rules hold for it too.
func (f *Original) config(i int, agent, robot, scene string, conf *simloidconf.Conf) (*configs.Config, error) {
	address := f.Address(i, conf.Port)
	_, port, err := net.SplitHostPort(address)
	name := "simloid-" + port
	if err != nil || port == "0" { // the port is not known yet
		name = fmt.Sprintf("simloid-%d-%d", os.Getpid(), i)
	}
	dialect := cmp.Or(f.Dialect, simloid.Document.String())
	text := fmt.Sprintf(`name: %q
clock: {mode: lockstep, period: %v}
world: {scene: %q, gravity: 0}
agents: [{name: %q, model: %q}]
servers: [{protocol: simloid, listen: %q, dialect: %q, noise: %t, pid: [%g, %g, %g], start_torque: %g, once: %t}]
`, name, conf.Step, scene, agent, robot, address, dialect, !f.Exact, conf.PID[0], conf.PID[1], conf.PID[2], conf.MaxTorque, !f.Keep)
	return configs.Parse([]byte(text), "halyard simloid", configs.Options{Set: f.Set})
}

// simloidModel is the model that robot i of the command line names, by id, by name or by file.
func simloidModel(robots []string, i, otherwise int) (string, error) {
	name := strconv.Itoa(otherwise)
	if n := len(robots); n > 0 {
		name = robots[min(i, n-1)]
	}
	id, err := strconv.Atoi(name)
	if err != nil {
		return name, nil
	}
	if !slices.Contains(model.SimloidIDs(), id) {
		return "", Fault("--robot", name, fmt.Sprintf("one of %v", model.SimloidIDs()))
	}
	return "simloid-" + name, nil
}

// simloidScene is the scene by its id, its name or its file.
func simloidScene(name string, otherwise int) (string, error) {
	name = cmp.Or(name, strconv.Itoa(otherwise))
	id, err := strconv.Atoi(name)
	if err != nil {
		return name, nil
	}
	var ids []int
	for _, known := range model.SceneNames() {
		s, err := model.LoadScene(known, 1)
		if err != nil {
			return "", err
		}
		if s.Simloid == id {
			return known, nil
		}
		if s.Simloid != hal.None {
			ids = append(ids, s.Simloid)
		}
	}
	slices.Sort(ids)
	return "", Fault("--scene", name,
		fmt.Sprintf("one of %v, or a name (%s)", ids, strings.Join(model.SceneNames(), ", ")))
}
