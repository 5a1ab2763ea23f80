package configs

// Placed is a robot, agent or class, with its place in the config.
type Placed struct {
	Path  Path
	Name  string // of the agent, or of the class
	Class bool
	*Robot
}

// Robots lists the agents, then copies of the classes by name.
func (c *Config) Robots() []Placed {
	var list []Placed
	for i := range c.Agents {
		list = append(list, Placed{Path: Path("agents").Index(i), Name: c.Agents[i].Name, Robot: &c.Agents[i].Robot})
	}
	for _, name := range names(c.Classes) {
		class := c.Classes[name]
		list = append(list, Placed{Path: Path("classes").Key(name), Name: name, Class: true, Robot: &class})
	}
	return list
}

// Rated reports whether the bus has a bit rate: a GPIO chip has none; an I2C bus and an SPI port have a clock,
// Frequency.
func (b *Bus) Rated() bool { return b.Type != "i2c" && b.Type != "spi" && b.Type != "gpio" }
