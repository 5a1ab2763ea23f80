package dashboard

import (
	"encoding/json"
	"math"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/halyard-robotics/halyard/hal"
)

// gauge and counter are the kinds of exported metrics.
const (
	gauge   = prometheus.GaugeValue
	counter = prometheus.CounterValue
)

// metric is one exported metric of each X, whose labels are with the table.
type metric[X any] struct {
	name, help string
	kind       prometheus.ValueType
	of         func(*X) float64 // NaN = not known: left out
	desc       *prometheus.Desc
}

// jointSample is the exported sample of a joint.
type jointSample struct {
	text   *jointText
	values []float32 // its agent's measured
	age    float64
	fault  bool
}

// value is a measured channel of a hinge, or of a slide.
func (j *jointSample) value(channel int, slide bool) float64 {
	if channel == hal.None || (j.text.Kind == kinds[hal.Slide]) != slide {
		return math.NaN()
	}
	return float64(j.values[channel])
}

// either returns a measured channel with the same unit for all kinds.
func (j *jointSample) either(channel int) float64 {
	return j.value(channel, j.text.Kind == kinds[hal.Slide])
}

func rigMetrics() []metric[rigStatus] {
	return []metric[rigStatus]{
		{name: "cycles_total", help: "Cycles in real time.", kind: counter,
			of: func(r *rigStatus) float64 { return float64(r.Ticks) }},
		{name: "cycles_missed_total", help: "Periods that a late wake-up skipped.", kind: counter,
			of: func(r *rigStatus) float64 { return float64(r.Missed) }},
		{name: "cycle_lateness_p99_seconds", help: "Lateness of the wake-up of 99 % of all cycles, at most.",
			kind: gauge, of: func(r *rigStatus) float64 { return float64(r.Late) / 1e6 }},
		{name: "cycle_work_p99_seconds", help: "Work of 99 % of all cycles, at most.", kind: gauge,
			of: func(r *rigStatus) float64 { return float64(r.Work) / 1e6 }},
		{name: "line_overruns_total", help: "Cycles in lock-step whose line time exceeded the period.", kind: counter,
			of: func(r *rigStatus) float64 { return float64(r.LineOverruns) }},
		{name: "faults_total", help: "Errors of whole bodies, buses and worlds.", kind: counter,
			of: func(r *rigStatus) float64 { return float64(r.Faults) }},
		{name: "emergency_stop_latched", help: "Whether the emergency stop is latched.", kind: gauge,
			of: func(r *rigStatus) float64 { return number(r.Stopped) }},
	}
}

func busMetrics() []metric[busStatus] {
	return []metric[busStatus]{
		{name: "bus_cycles_total", help: "Cycles that asked all servos of the bus.", kind: counter,
			of: func(b *busStatus) float64 { return float64(b.Cycles) }},
		{name: "bus_timeouts_total", help: "Requests that a servo did not answer.", kind: counter,
			of: func(b *busStatus) float64 { return float64(b.Timeouts) }},
		{name: "bus_bad_checksums_total", help: "Packets with a bad checksum.", kind: counter,
			of: func(b *busStatus) float64 { return float64(b.BadChecksums) }},
		{name: "bus_garbage_bytes_total", help: "Bytes that belonged to no packet.", kind: counter,
			of: func(b *busStatus) float64 { return float64(b.Garbage) }},
		{name: "bus_fallbacks_total", help: "Times that a servo went to a slower way of reading.", kind: counter,
			of: func(b *busStatus) float64 { return float64(b.Fallbacks) }},
		{name: "bus_reopened_total", help: "Times that the line came back.", kind: counter,
			of: func(b *busStatus) float64 { return float64(b.Reopened) }},
		{name: "bus_cycle_seconds", help: "Time of sending and receiving in the last cycle, by the line's clock.",
			kind: gauge, of: func(b *busStatus) float64 { return float64(b.Spent) }},
		{name: "bus_exchange_cycles", help: "Cycles that an exchange spans; above 1: the line is slower than the cycle.",
			kind: gauge, of: func(b *busStatus) float64 { return float64(b.Span) }},
		{name: "bus_wire_seconds", help: "Time of the last cycle's bytes at the line's rate.", kind: gauge,
			of: func(b *busStatus) float64 { return float64(b.Wire) }},
		{name: "bus_silent_joints", help: "Joints on the bus whose device has a fault.", kind: gauge,
			of: func(b *busStatus) float64 { return float64(len(b.Silent)) }},
	}
}

func agentMetrics() []metric[agentStatus] {
	return []metric[agentStatus]{
		{name: "agent_armed", help: "Whether commands reach the agent.", kind: gauge,
			of: func(a *agentStatus) float64 { return number(a.State == hal.Armed.String()) }},
		{name: "agent_held", help: "Whether a client holds the lease.", kind: gauge,
			of: func(a *agentStatus) float64 { return number(a.Holder != "") }},
		{name: "agent_device_faults", help: "Joints and sensors with a fault.", kind: gauge,
			of: func(a *agentStatus) float64 { return float64(len(a.Faults)) }},
		{name: "agent_commands_refused_total", help: "Commands that the guard refused.", kind: counter,
			of: func(a *agentStatus) float64 { return float64(a.Refused) }},
		{name: "agent_commands_clamped_total", help: "Commands that the guard clamped to a range or limit.",
			kind: counter, of: func(a *agentStatus) float64 { return float64(a.Clamped) }},
		{name: "agent_commands_expired_total", help: "Times that the command deadline ran out.", kind: counter,
			of: func(a *agentStatus) float64 { return float64(a.Expired) }},
		{name: "agent_stops_total", help: "Times that a stop, an operator or a client disarmed the agent.",
			kind: counter, of: func(a *agentStatus) float64 { return float64(a.Stops) }},
	}
}

func jointMetrics() []metric[jointSample] {
	return []metric[jointSample]{
		{name: "joint_position_radians", help: "Measured position of a hinge or wheel.", kind: gauge,
			of: func(j *jointSample) float64 { return j.value(j.text.Position, false) }},
		{name: "joint_position_meters", help: "Measured position of a slide.", kind: gauge,
			of: func(j *jointSample) float64 { return j.value(j.text.Position, true) }},
		{name: "joint_velocity_radians_per_second", help: "Measured velocity of a hinge or wheel.", kind: gauge,
			of: func(j *jointSample) float64 { return j.value(j.text.Velocity, false) }},
		{name: "joint_velocity_meters_per_second", help: "Measured velocity of a slide.", kind: gauge,
			of: func(j *jointSample) float64 { return j.value(j.text.Velocity, true) }},
		{name: "joint_torque_newton_meters", help: "Measured torque of a hinge or wheel.", kind: gauge,
			of: func(j *jointSample) float64 { return j.value(j.text.Torque, false) }},
		{name: "joint_force_newtons", help: "Measured force of a slide.", kind: gauge,
			of: func(j *jointSample) float64 { return j.value(j.text.Torque, true) }},
		{name: "joint_temperature_celsius", help: "Measured temperature of the servo.", kind: gauge,
			of: func(j *jointSample) float64 { return j.either(j.text.Temperature) }},
		{name: "joint_voltage_volts", help: "Measured supply voltage of the servo.", kind: gauge,
			of: func(j *jointSample) float64 { return j.either(j.text.Voltage) }},
		{name: "joint_reading_age_seconds", help: "Age of the newest reading.", kind: gauge,
			of: func(j *jointSample) float64 { return j.age }},
		{name: "joint_fault", help: "Whether the joint has a fault.", kind: gauge,
			of: func(j *jointSample) float64 { return number(j.fault) }},
	}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// collector exports the values of the pages.
type collector struct {
	server     *Server
	rigs       []metric[rigStatus]
	buses      []metric[busStatus]
	agents     []metric[agentStatus]
	joints     []metric[jointSample]
	info, tabs *prometheus.Desc
}

// newMetrics answers GET /metrics.
func newMetrics(s *Server) http.Handler {
	c := &collector{server: s, rigs: described(rigMetrics(), "rig"),
		buses:  described(busMetrics(), "rig", "bus", "body"),
		agents: described(agentMetrics(), "rig", "agent"), joints: described(jointMetrics(), "rig", "agent", "joint"),
		info: prometheus.NewDesc("halyard_agent_info",
			"The agents and what they are made of: sim, emulated, real or mixed.", []string{"rig", "agent", "body"},
			nil),
		tabs: prometheus.NewDesc("halyard_dashboard_tabs", "Open pages of the dashboard.", nil, nil)}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

func described[X any](list []metric[X], labels ...string) []metric[X] {
	for i := range list {
		list[i].desc = prometheus.NewDesc("halyard_"+list[i].name, list[i].help, labels, nil)
	}
	return list
}

func describe[X any](list []metric[X], to chan<- *prometheus.Desc) {
	for i := range list {
		to <- list[i].desc
	}
}

func collect[X any](list []metric[X], x *X, to chan<- prometheus.Metric, labels ...string) {
	for i := range list {
		if v := list[i].of(x); !math.IsNaN(v) {
			to <- prometheus.MustNewConstMetric(list[i].desc, list[i].kind, v, labels...)
		}
	}
}

func (c *collector) Describe(to chan<- *prometheus.Desc) {
	describe(c.rigs, to)
	describe(c.buses, to)
	describe(c.agents, to)
	describe(c.joints, to)
	to <- c.info
	to <- c.tabs
}

func (c *collector) Collect(to chan<- prometheus.Metric) {
	to <- prometheus.MustNewConstMetric(c.tabs, gauge, float64(len(c.server.tabs)))
	sample, text := c.server.sampler.take()
	var layout layoutText
	status := c.server.readStatus()
	if json.Unmarshal(text, &layout) != nil || layout.Generation != sample.generation ||
		len(layout.Agents) != len(status.Agents) {
		return // agents are being added or removed: the next scrape has them
	}
	for i := range status.Rigs {
		name := layout.Rigs[i].Name
		collect(c.rigs, &status.Rigs[i], to, name)
		for k := range status.Rigs[i].Buses {
			b := &status.Rigs[i].Buses[k]
			collect(c.buses, b, to, name, b.Name, b.Body)
		}
	}
	for i := range layout.Agents {
		a := &layout.Agents[i]
		rig := layout.Rigs[a.Rig].Name
		to <- prometheus.MustNewConstMetric(c.info, gauge, 1, rig, a.Name, a.Body)
		collect(c.agents, &status.Agents[i], to, rig, a.Name)
		for k := range a.Joints {
			j := &a.Joints[k]
			_, fault := status.Agents[i].Faults[j.Name]
			collect(c.joints, &jointSample{text: j, values: sample.values[a.First:a.Ages],
				age: float64(sample.values[a.Ages+k]), fault: fault}, to, rig, a.Name, j.Name)
		}
	}
}
