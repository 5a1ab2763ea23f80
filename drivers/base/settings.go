package base

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
)

// number is a command with a number.
func number(op p2oswire.Op, arg int) p2oswire.Command {
	return p2oswire.Command{Op: op, Kind: p2oswire.Number, Int: arg}
}

func bit(on bool) int {
	if on {
		return 1
	}
	return 0
}

// setUp puts the next setting of a new session, one a time so that a slow base keeps up; false when there are no more.
func (b *Base) setUp(now time.Duration) bool {
	s, n := &b.cfg, number
	settings := [...]struct {
		skip bool
		p2oswire.Command
	}{
		{false, n(p2oswire.OpEnable, 0)},
		{s.Polling == "", p2oswire.Command{Op: p2oswire.OpPolling, Kind: p2oswire.Text, Text: s.Polling}},
		{false, n(p2oswire.OpSonar, bit(!s.SonarOff))},
		{false, n(p2oswire.OpConfig, 1)},
		{s.Acceleration <= 0, n(p2oswire.OpSetA, int(math.Round(s.Acceleration*1000)))},
		{s.Acceleration <= 0, n(p2oswire.OpSetA, -int(math.Round(s.Acceleration*1000)))},
		{s.TurnAcceleration <= 0, n(p2oswire.OpSetRA, int(math.Round(s.TurnAcceleration/degree)))},
		{!s.Gyro, n(p2oswire.OpGyro, 1)},
		{!s.Encoders, n(p2oswire.OpEncoder, 2)},
		{!s.IO, n(p2oswire.OpIORequest, 2)},
		{!s.Gripper, n(p2oswire.OpGripperState, 2)},
	}
	for b.start < len(settings) {
		c := settings[b.start]
		if !c.skip && now-b.drive.sentAt < b.pace() {
			return true
		}
		if b.start++; c.skip {
			continue
		}
		b.put(c.Command)
		b.drive.sentAt = now
		return true
	}
	return false
}

// maxConfigs is the number of repeated requests for the configuration: some bases have none, and some never send a
// correct checksum.
const maxConfigs = 5

// remind repeats requests without a reply, one a second in turn: the request was lost, or the base does not support it.
func (b *Base) remind(now time.Duration) {
	if now-b.reminded < stale {
		return
	}
	s, n := &b.cfg, number
	late := func(asked bool, at time.Duration) bool { return asked && now-max(at, 0) > stale }
	asks := [...]struct {
		late bool
		p2oswire.Command
	}{
		{b.report.Flags&p2oswire.FlagSonar != 0 == s.SonarOff, n(p2oswire.OpSonar, bit(!s.SonarOff))},
		{b.config == p2oswire.ConfigReport{} && b.configs < maxConfigs, n(p2oswire.OpConfig, 1)},
		{late(s.Gyro, b.senses[Gyro].at[0]), n(p2oswire.OpGyro, 1)},
		{late(s.Encoders, b.senses[Encoders].at[0]), n(p2oswire.OpEncoder, 2)},
		{late(s.IO, b.ioAt), n(p2oswire.OpIORequest, 2)},
		{late(s.Gripper, b.gripperAt), n(p2oswire.OpGripperState, 2)},
	}
	for range asks {
		if b.turn = (b.turn + 1) % len(asks); asks[b.turn].late {
			b.put(asks[b.turn].Command)
			if b.reminded = now; asks[b.turn].Op == p2oswire.OpConfig {
				b.configs++
			}
			return
		}
	}
}
