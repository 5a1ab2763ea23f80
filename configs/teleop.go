package configs

import (
	"fmt"
	"slices"

	"github.com/halyard-robotics/halyard/internal/yaml"
)

// completeTeleop makes leaders agents that are only read.
func (c *Config) completeTeleop() {
	for _, t := range c.Teleop {
		for i := range c.Agents {
			if a := &c.Agents[i]; a.Name == t.Leader {
				a.Guard.Passive, a.Guard.Armed = true, false
			}
		}
	}
}

// checkTeleop checks what needs only the file.
func (c *checker) checkTeleop(agents []string) {
	leaders := map[string]Path{}
	for i, t := range c.Teleop {
		leaders[t.Leader] = Path("teleop").Index(i).Key("leader")
	}
	pairs := map[[2]string]Path{}
	for i, t := range c.Teleop {
		at := Path("teleop").Index(i)
		for key, name := range map[string]string{"leader": t.Leader, "follower": t.Follower} {
			if name != "" && !slices.Contains(agents, name) && !c.Bad("agents") {
				c.add(at.Key(key), yaml.Quote(name), "the name of an agent", yaml.Meant(name, agents))
			}
		}
		if first, leads := leaders[t.Follower]; leads && t.Follower != "" {
			c.add(at.Key("follower"), yaml.Quote(t.Follower), "an agent that is no leader",
				fmt.Sprintf("%s has it: a leader is never driven", first))
		}
		pair := [2]string{t.Leader, t.Follower}
		if first, twice := pairs[pair]; twice {
			c.clash(first, at.Key("follower"), yaml.Quote(t.Follower), "one entry for the two")
		} else {
			pairs[pair] = at.Key("follower")
		}
		for _, name := range inOrder(c, at.Key("joints"), t.Joints) {
			scale := at.Key("joints").Key(name).Key("scale")
			if j := t.Joints[name]; j.Scale == 0 {
				c.add(scale, "0", "another number: the joint would not follow", "")
			} else if j.Range && j.Scale != 1 && j.Scale != -1 {
				c.add(scale, fmt.Sprint(j.Scale), "1 or -1 with range", "")
			}
		}
	}
}
