package base

import (
	"math"
	"time"
)

// setUp puts the next setting of a new session, one a time so that a slow base keeps up; false when there are no more.
func (b *Base) setUp(now time.Duration) bool {
	yes := func(on bool) int {
		if on {
			return 1
		}
		return 0
	}
	s := &b.cfg
	n := func(op Op, arg int) Command { return Command{Op: op, Kind: Number, Int: arg} }
	settings := [...]struct {
		skip bool
		Command
	}{
		{false, n(OpEnable, 0)},
		{s.Polling == "", Command{Op: OpPolling, Kind: Text, Text: s.Polling}},
		{false, n(OpSonar, yes(!s.Mute))},
		{false, n(OpConfig, 1)},
		{s.Acceleration <= 0, n(OpSetA, int(math.Round(s.Acceleration*1000)))},
		{s.Acceleration <= 0, n(OpSetA, -int(math.Round(s.Acceleration*1000)))},
		{s.TurnAcceleration <= 0, n(OpSetRA, int(math.Round(s.TurnAcceleration/degree)))},
		{!s.Gyro, n(OpGyro, 1)},
		{!s.Encoders, n(OpEncoder, 2)},
		{!s.IO, n(OpIORequest, 2)},
		{!s.Gripper, n(OpGripperState, 2)},
	}
	for b.start < len(settings) {
		c := settings[b.start]
		if !c.skip && now-b.drive.told < b.pace() {
			return true
		}
		if b.start++; c.skip {
			continue
		}
		b.put(c.Command)
		b.drive.told = now
		return true
	}
	return false
}

// remind asks once more, one thing at a time, for what was asked for and does not come: the word was lost on its way.
func (b *Base) remind(now time.Duration) {
	if now-b.reminded < stale {
		return
	}
	s, sonar := &b.cfg, b.report.Flags&FlagSonar != 0
	late := func(asked bool, at time.Duration) bool { return asked && now-max(at, 0) > stale }
	c := Command{Kind: Number, Int: 1}
	switch {
	case sonar == s.Mute:
		if c.Op = OpSonar; s.Mute {
			c.Int = 0
		}
	case b.config == ConfigReport{}:
		c.Op = OpConfig
	case late(s.Gyro, b.senses[Gyro].at[0]):
		c.Op = OpGyro
	case late(s.Encoders, b.senses[Encoders].at[0]):
		c.Op, c.Int = OpEncoder, 2
	case late(s.IO, b.ioAt):
		c.Op, c.Int = OpIORequest, 2
	case late(s.Gripper, b.gripperAt):
		c.Op, c.Int = OpGripperState, 2
	default:
		return
	}
	b.put(c)
	b.reminded = now
}
