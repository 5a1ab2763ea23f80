package gamebots

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// farthest bounds the places that a client may name, m: beyond it float32 bodies of the physics lose millimetres.
const farthest = 10e3

// spawn handles INIT, and answers Failed after an error.
func (c *Control) spawn() error {
	s := c.session
	class, name := c.Text("ClassName"), c.Text("Name")
	err := s.spawn(c, class, name)
	if err != nil {
		s.reply(func(t *text) { res(t, s.now(), s.decimals(), brief(class), brief(name), "Failed") })
	}
	return err
}

// brief is a client's own word to answer with.
func brief(word string) string { return orNone(word[:min(len(word), maxName)]) }

// spawn makes the robot, binds it and begins. All is checked that can be before something is in the world.
func (s *session) spawn(c *Control, class, name string) error {
	arena := &s.server.arena
	at, err := c.start(arena)
	if err != nil {
		return err
	}
	switch {
	case s.robot.Load() != nil:
		return errors.New("a second INIT: one robot a connection")
	case arena.Spawner == nil:
		return fmt.Errorf("spawn: %w", errAbsent)
	case !proper(class):
		return fmt.Errorf("class %q: %w", class, ErrFormat)
	case name != "" && !proper(name):
		return fmt.Errorf("name %q: %w", name, ErrFormat)
	}
	if class, err = arena.class(class); err != nil {
		return err
	}
	agent, err := s.server.spawn(class, name, at)
	if err != nil {
		return err
	}
	// from here on the robot is in the world, and has to leave it where something fails
	k, err := s.bind(class, agent)
	if err != nil {
		s.server.remove(agent.Name())
		return err
	}
	s.name = agent.Name()
	s.begin(k)
	return nil
}

// start is where the robot begins, in hal's axes.
func (c *Control) start(arena *Arena) (hal.Pose, error) {
	at := pose(c.Vector("Location"), c.Vector("Rotation"))
	if c.err != nil {
		return at, c.err
	}
	for _, v := range at.Position {
		if math.Abs(v) > farthest {
			return at, fmt.Errorf("place: got %g m, want within ±%g: %w", v, farthest, ErrNumber)
		}
	}
	if name, ok := c.message.Value("Start"); ok {
		for _, s := range arena.Starts {
			if equal(name, one(s.Name)) {
				return s.Pose, nil
			}
		}
		names := make([]string, len(arena.Starts))
		for i, s := range arena.Starts {
			names[i] = one(s.Name)
		}
		return at, fmt.Errorf("start: got %q, want one of %s", name, strings.Join(names, ", "))
	}
	if !c.Has("Location") && len(arena.Starts) > 0 {
		turn := at.Rotation
		at = arena.Starts[0].Pose
		if c.Has("Rotation") {
			at.Rotation = turn
		}
	}
	return at, nil
}

// class is the arena's own name of a class.
func (a *Arena) class(asked string) (string, error) {
	if len(a.Classes) == 0 {
		return asked, nil
	}
	for _, known := range a.Classes {
		if strings.EqualFold(asked, known) || strings.EqualFold(asked, short(known)) {
			return known, nil
		}
	}
	return "", fmt.Errorf("class %q: got none of %s", asked, strings.Join(a.Classes, ", "))
}

// short is a class without its package: P2AT.
func short(class string) string { return class[strings.LastIndexByte(class, '.')+1:] }

// bind describes a spawned robot and acquires its lease.
func (s *session) bind(class string, agent *hal.Agent) (*link, error) {
	describe := s.server.arena.Describe
	if describe == nil {
		describe = func(class string, a *hal.Agent) (*Robot, error) { return Describe(short(class), a), nil }
	}
	r, err := describe(class, agent)
	if err != nil {
		return nil, err
	}
	if err := r.complete(agent.Layout()); err != nil {
		return nil, err
	}
	lease, err := s.party.Acquire(agent)
	if err != nil {
		return nil, err
	}
	return newLink(r, agent, lease, &s.dialect), nil
}
