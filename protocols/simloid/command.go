package simloid

import (
	"strconv"
	"strings"
)

// Verb is the operation of a command.
type Verb uint8

// The verbs, by their words on the wire, in the order in which the original tries them.
const (
	unknown     Verb = iota
	UX               // u...; voltage of each joint
	UA               // u; of all
	ui               // joint u; of one
	PX               // p...; position of each joint
	PA               // p
	PI               // joint p
	tx               // t...; greatest torque of each joint's position controller
	TA               // t
	ti               // joint t
	fx               // x y z...; force on each body for one step
	fa               // x y z
	FI               // body x y z
	im               // body x y z; the document's word for FI
	GravityOn        //
	GravityOff       //
	Reset            // everything as at the start, the clock too
	Save             //
	Restore          // everything as at Save, but the clock
	newTime          // the clock at 0
	record           // later; records pictures, which this server does not render
	pause            // later; until the next message: no step, no status
	done             // ends a message
	exit             //
	Model            // later; id n p...; another robot
	Motor            // later; n p...; another motor in all joints
	SensorsPoor      // later
	SensorsGood      // later
	Fixed            // later; body; fixes it in the world, or frees it
	Description      // later; answered by one line
	Interlaced       // later
	Sequential       // later
	Ack              // later, once the traits are acknowledged: as DONE
	numVerbs
)

// form is the arguments of a verb.
type form uint8

const (
	bare      form = iota
	each           // numbers, as many as there are
	one            // a number
	three          // three numbers
	oneOf          // an index and a number
	threeOf        // an index and three numbers
	anIndex        // an index
	counted        // a count and as many numbers
	countedOf      // an index, a count and as many numbers
)

// indexed reports whether the first argument is an index.
func (f form) indexed() bool { return f == oneOf || f == threeOf || f == anIndex || f == countedOf }

// syntax is in the order of the verbs, so that syntax[v-1] is verb v's.
var syntax = [numVerbs - 1]struct {
	word  string
	form  form
	later bool
}{
	{"UX ", each, false}, {"UA ", one, false}, {"UI ", oneOf, false},
	{"PX ", each, false}, {"PA ", one, false}, {"PI ", oneOf, false},
	{"TX ", each, false}, {"TA ", one, false}, {"TI ", oneOf, false},
	{"FX ", each, false}, {"FA ", three, false}, {"FI ", threeOf, false}, {"IM ", threeOf, false},
	{"GRAVITY ON", bare, false}, {"GRAVITY OFF", bare, false},
	{"RESET", bare, false}, {"SAVE", bare, false}, {"RESTORE", bare, false}, {"NEWTIME", bare, false},
	{"RECORD", bare, true}, {"PAUSE", bare, true}, {"DONE", bare, false}, {"EXIT", bare, false},
	{"MODEL", countedOf, true}, {"MOTOR", counted, true},
	{"SENSORS POOR", bare, true}, {"SENSORS GOOD", bare, true},
	{"FIXED", anIndex, true}, {"DESCRIPTION", bare, true},
	{"INTERLACED MODE", bare, true}, {"SEQUENTIAL MODE", bare, true}, {"ACK", bare, true},
}

func (v Verb) String() string {
	if v == unknown || v >= numVerbs {
		return "unknown"
	}
	return strings.TrimSuffix(syntax[v-1].word, " ")
}

// maxValues bounds the numbers of one command: three for each body.
const maxValues = 3 * MaxBodies

// Command is one line of a control message.
type Command struct {
	Verb   Verb
	Index  int       // a joint, a body, or the id of a model
	Values []float64 // finite
}

// decode reads one line, without its newline, into c and reuses c.Values. ErrUnknown reports that it is not a command
// of dialect d; ErrFormat that its numbers do not fit the verb. Text after them is ignored.
func decode(line []byte, d Dialect, c *Command) error {
	*c = Command{Values: c.Values[:0]}
	for i := range syntax {
		s := &syntax[i]
		if s.later && d != Later || len(line) < len(s.word) || string(line[:len(s.word)]) != s.word {
			continue
		}
		c.Verb = Verb(i + 1)
		return c.arguments(s.form, line[len(s.word):])
	}
	return ErrUnknown
}

// arguments reads the arguments of form f.
func (c *Command) arguments(f form, b []byte) error {
	if f.indexed() {
		var token []byte
		var ok bool
		token, b = cut(b)
		if c.Index, ok = index(token); !ok {
			return ErrFormat
		}
	}
	switch f {
	case each:
		return c.numbers(b, 0, maxValues)
	case one, oneOf:
		return c.numbers(b, 1, 1)
	case three, threeOf:
		return c.numbers(b, 3, 3)
	case counted, countedOf:
		token, rest := cut(b)
		if len(token) == 0 && f == countedOf {
			return nil // as clients of before 2018 ask for a model
		}
		n, ok := index(token)
		if !ok || n > maxValues {
			return ErrFormat
		}
		return c.numbers(rest, n, n)
	}
	return nil
}

// numbers reads from minCount to maxCount numbers. One malformed number rejects all.
func (c *Command) numbers(b []byte, minCount, maxCount int) error {
	for len(c.Values) < maxCount {
		token, rest := cut(b)
		if len(token) == 0 {
			break
		}
		v, ok := number(token)
		if !ok {
			c.Values = c.Values[:0]
			return ErrFormat
		}
		c.Values, b = append(c.Values, v), rest
	}
	if len(c.Values) < minCount {
		return ErrFormat
	}
	return nil
}

// Append appends c as a line. A Command of verb unknown is an empty one.
func Append(dst []byte, c *Command) []byte {
	if c.Verb == unknown || c.Verb >= numVerbs {
		return append(dst, '\n')
	}
	s := &syntax[c.Verb-1]
	dst = append(dst, strings.TrimSuffix(s.word, " ")...) // each argument brings its own
	if s.form.indexed() {
		dst = strconv.AppendInt(append(dst, ' '), int64(c.Index), 10)
	}
	if s.form == counted || s.form == countedOf {
		dst = strconv.AppendInt(append(dst, ' '), int64(len(c.Values)), 10)
	}
	for _, v := range c.Values {
		dst = strconv.AppendFloat(append(dst, ' '), v, 'g', -1, 64)
	}
	if s.form == each && len(c.Values) == 0 {
		dst = append(dst, ' ') // without it the word is another
	}
	return append(dst, '\n')
}
