package record

import "strings"

// The topics that every recording has. A line's is /bus/NAME, an agent's /NAME/state.
const (
	ordersTopic = "/orders"
	cycleTopic  = "/cycle"
	fileTopic   = "/recorder"
	busPrefix   = "/bus/"
	stateSuffix = "/state"
)

var fixedChannels = []struct{ topic, name, schema string }{
	{ordersTopic, "halyard.Order",
		`{"type":"object","properties":{"cycle":{"type":"integer"},"kind":{"type":"string"},"agent":{"type":"string"},` +
			`"name":{"type":"string"},"inputs":{"type":"array","items":{"type":["number","null"]}},"seed":{"type":"integer"},"value":{"type":"object"}},"required":["cycle","kind"]}`},
	{cycleTopic, "halyard.Cycle", `{"type":"object","properties":{"number":{"type":"integer"},"time":{"type":"number"},"missed_ns":{"type":"integer"},` +
		`"events":{"type":"array","items":{"type":"string"}},"dropped_cycles":{"type":"integer"},"lost_orders":{"type":"integer"}},"required":["number","time"]}`},
	{fileTopic, "halyard.Recorder",
		`{"type":"object","properties":{"cycles":{"type":"integer"},"dropped_cycles":{"type":"integer"},"lost_orders":{"type":"integer"},` +
			`"lost_line_ops":{"type":"integer"},"bytes":{"type":"integer"},"dropped_pictures":{"type":"integer"}}}`},
}

const lineSchema = `{"type":"object","properties":{"cycle":{"type":"integer"},"ops":{"type":"array","items":{"type":"object","properties":{` +
	`"op":{"type":"string","enum":["write","read","discard","now","baud","set","open","close"]},"at_ns":{"type":"integer"},` +
	`"data":{"type":"string"},"n":{"type":"integer"},"error":{"type":"string"}},"required":["op"]}}},"required":["cycle","ops"]}`

// schema describes the state of one agent, every number of it by its own name, so that viewers can offer them.
func (f *form) schema() string {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{"time":{"type":"number"},"guard":{"type":"string"},"holder":{"type":"string"},"counts":{"type":"object","properties":{`)
	for i, name := range []string{"refused", "clamped", "expired", "locked", "jumped", "stops"} {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + name + `":{"type":"integer"}`)
	}
	b.WriteString(`}},"inputs":` + f.inputs.schema(`{"type":["number","null"]}`))
	b.WriteString(`,"measured":` + f.measured.schema(`{"type":["number","null"]}`))
	b.WriteString(`,"enabled":` + f.joints.schema(`{"type":"boolean"}`))
	b.WriteString(`,"joints":` + f.joints.schema(`{"type":"string"}`))
	b.WriteString(`,"devices":` + f.status.schema(
		`{"type":"object","properties":{"time":{"type":"number"},"drive":{"type":"integer"},"error":{"type":"string"}}}`))
	b.WriteString(`},"required":["time","guard","inputs","measured"]}`)
	return b.String()
}

// schema returns the JSON schema of o, whose values all have one type.
func (o *object) schema(value string) string {
	leaves, end := nest(o.names, `{"type":"object","properties":{`, `}}`)
	var b strings.Builder
	for _, l := range leaves {
		b.WriteString(l.before + value)
	}
	return b.String() + end
}

// LineTopic is the topic of a line.
func LineTopic(bus string) string { return busPrefix + bus }

// Topic is the subject of a message.
type Topic int

// The topics.
const (
	OtherTopic Topic = iota
	OrderTopic
	LineTopics
	StateTopic
	CycleTopic
)

// TopicOf returns the subject of messages of a topic called name.
func TopicOf(name string) Topic {
	switch {
	case name == ordersTopic:
		return OrderTopic
	case name == cycleTopic:
		return CycleTopic
	case strings.HasPrefix(name, busPrefix):
		return LineTopics
	case strings.HasSuffix(name, stateSuffix):
		return StateTopic
	}
	return OtherTopic
}
