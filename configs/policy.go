package configs

import (
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/internal/yaml"
)

// completePolicies fills in the agent and the ramp of policies.
func (c *Config) completePolicies() {
	for name, p := range c.Policies {
		if p.Agent == "" && len(c.Agents) == 1 {
			p.Agent = c.Agents[0].Name
		}
		at := slices.IndexFunc(c.Agents, func(a Agent) bool { return a.Name == p.Agent })
		if !c.given(Path("policies").Key(name).Key("ramp")) && at >= 0 && c.Agents[at].Has(Real) {
			p.Ramp = 2 * time.Second
		}
		c.Policies[name] = p
	}
}

// checkPolicies checks what needs only the file.
func (c *checker) checkPolicies(agents []string) {
	used := map[string]Path{}
	for _, name := range inOrder(c, "policies", c.Policies) {
		p, at := c.Policies[name], Path("policies").Key(name)
		switch {
		case p.Agent == "" && len(agents) != 1:
			c.add(at.Key("agent"), "nothing", yaml.Words(agents), "a policy drives one robot")
		case p.Agent != "" && !slices.Contains(agents, p.Agent) && !c.Bad("agents"):
			c.add(at.Key("agent"), yaml.Quote(p.Agent), "the name of an agent", yaml.Meant(p.Agent, agents))
		}
		if first, twice := used[p.Agent]; p.Use && twice {
			c.clash(first, at.Key("use"), "true", "one policy in use for an agent")
		} else if p.Use {
			used[p.Agent] = at.Key("use")
		}
		for i, v := range p.Commands {
			if !(v.Min < v.Max && v.Value >= v.Min && v.Value <= v.Max) {
				c.add(at.Key("commands").Index(i), "a value or range that does not fit", "min <= value <= max", "")
			}
		}
	}
}
