package p2os

import (
	"math"

	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
)

// reports appends the packets of one cycle.
func (b *Board) reports(dst []byte) []byte {
	r := b.standard()
	dst = b.packet(dst, r.Append(b.text[:0]))
	if b.encoder > 0 {
		e := p2oswire.EncoderReport{Left: b.ticks(b.rims[0] - b.from[0]), Right: b.ticks(b.rims[1] - b.from[1])}
		dst = b.packet(dst, e.Append(b.text[:0]))
	}
	if b.gyro {
		g := p2oswire.GyroReport{Count: 4}
		for i := range g.Readings[:g.Count] {
			g.Readings[i] = p2oswire.GyroReading{
				Rate: uint16(clip(base.GyroStill-b.chassis.Turn()/base.GyroScale, 0, 1023)), Celsius: 128}
		}
		dst = b.packet(dst, g.Append(b.text[:0]))
	}
	if b.io > 0 {
		io := p2oswire.IOReport{Ins: 4, Outs: 1, Analogs: 9}
		io.In[1], io.In[2], io.Out[0] = byte(r.Stall>>9), byte(r.Stall>>1)&0x7F, b.digital
		io.Analog[8] = uint16(clip(b.chassis.Volts()/20*1023, 0, 1023))
		dst = b.packet(dst, io.Append(b.text[:0]))
	}
	if b.gripper > 0 {
		g := p2oswire.GripperReport{Kind: 2, State: b.grip}
		dst = b.packet(dst, g.Append(b.text[:0]))
	}
	// A report requested once is sent once.
	for _, mode := range [...]*int{&b.encoder, &b.io, &b.gripper} {
		if *mode == 1 {
			*mode = 0
		}
	}
	return dst
}

// packet appends one packet with data, which was built in the buffer text.
func (b *Board) packet(dst, data []byte) []byte {
	b.text = data
	return p2oswire.AppendPacket(dst, data)
}

// ticksPerMetre is the resolution of a P3-DX's encoders; the driver does not convert ticks.
const ticksPerMetre = 128000

func (b *Board) ticks(m float64) int32 { return int32(int64(math.Round(m * ticksPerMetre))) }

// standard is the report of now; the sonar has gone on by as many transducers as one cycle is long.
func (b *Board) standard() p2oswire.Report {
	volts := b.chassis.Volts()
	// Places and headings are counts that wrap.
	r := p2oswire.Report{
		X:       uint16(int64(math.Round(b.x/b.robot.Distance))) & 0x7FFF,
		Y:       uint16(int64(math.Round(b.y/b.robot.Distance))) & 0x7FFF,
		Heading: uint16(int64(math.Round(b.h/base.Angle))) & 0x0FFF,
		Left:    int16(math.Round(b.actual[0] / b.robot.Speed)), Right: int16(math.Round(b.actual[1] / b.robot.Speed)),
		Battery: byte(clip(volts*10, 0, 255)), AnalogPort: b.selected, DigitalIn: 0xFF, DigitalOut: b.digital,
		Celsius: -127,
	}
	r.Moving = r.Left != 0 || r.Right != 0
	set := func(bits *uint16, bit int, on bool) {
		if on {
			*bits |= 1 << bit
		}
	}
	set(&r.Flags, 0, b.motors)
	set(&r.Flags, 5, b.estop)
	for i := range 4 {
		set(&r.Flags, 1+i, b.sonar)
	}
	set(&r.Stall, 0, b.stall[0])
	set(&r.Stall, 8, b.stall[1])
	for i := range b.robot.Bumpers {
		set(&r.Stall, 1+i, b.chassis.Bumper(true, i))
		set(&r.Stall, 9+i, b.chassis.Bumper(false, i))
	}
	if n := len(b.robot.Sonar); b.sonar && n > 0 {
		if b.order != "" {
			n = len(b.order)
		}
		// Arrays of eight fire side by side: robots with more than two have so many more echoes a report.
		for range min(perReport*((len(b.robot.Sonar)+15)/16), n) {
			i := b.fires % n
			b.fires = i + 1
			if b.order != "" {
				i = int(b.order[i]) - 1
			}
			m := math.Min(b.chassis.Sonar(i), b.robot.NoEchoRange)
			r.Echoes[r.Count] = p2oswire.EchoReading{Index: byte(i), Range: uint16(math.Round(m / b.robot.Range))}
			r.Count++
		}
	}
	if b.arcos {
		r.Extra, r.Battery10, r.Charged = 11, uint16(clip(volts*10, 0, 65535)), 100
		r.Turn = int16(clip((b.actual[1]-b.actual[0])/2*b.robot.Difference*1800/math.Pi, -32768, 32767))
	}
	return r
}

// config is the configuration of the board.
func (b *Board) config() *p2oswire.ConfigReport {
	return &p2oswire.ConfigReport{
		Class: b.names.Class, Subclass: b.names.Subclass, Serial: "SIM-0001", FourMotors: b.robot.Wheels == 4,
		Name:      b.names.Name,
		RotVelTop: uint16(b.robot.MaxTurn * 180 / math.Pi), TransVelTop: uint16(b.robot.MaxSpeed * 1000),
		RotAccTop:   300,
		TransAccTop: 2000, PWMMax: 500, Cycle: 100, Gripper: 1, FrontSonar: 1, RearSonar: 1, LowBattery: 110,
		RevCount: 16570, Watchdog: 2000, StallVal: 200, StallCount: 200, RotVelMax: 100, TransVelMax: 1000,
		RotAcc: 100, RotDecel: 100, RotGains: [3]uint16{40, 20, 0}, TransAcc: 300, TransDecel: 300,
		TransGains:   [3]uint16{40, 30, 0},
		FrontBumpers: 5, RearBumpers: 5, SonarCycle: 40, HasGyro: 1,
	}
}

// clip is v within low..high, rounded.
func clip(v, low, high float64) float64 { return math.Round(math.Min(high, math.Max(low, v))) }
