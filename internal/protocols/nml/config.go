package nml

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// BufferLine is one B line of a configuration file:
//
//	B name SHMEM host size neut RPC# buf# maxprocs key TCP=port [options]
type BufferLine struct {
	Line                int    // in the file
	Name                string // "default" describes any buffer
	Type                string // SHMEM, LOCMEM ...: where a C++ server keeps it
	Host                string
	Size                int // bytes, with the C++ server's own header
	Number              int32
	Key                 int // of the shared memory
	Port                int // TCP; 0 = not served over TCP
	Encoding            Encoding
	Queue, ConfirmWrite bool
	MaxMessage          int // max_message_size, bytes; 0 = Size

	Refused string // why this program does not use the buffer: "encoding xml, want packed, xdr or disp"; "" = it does
}

// ProcessLine is one P line:
//
//	P process buffer LOCAL|REMOTE|AUTO host ops server timeout master cnum [poll]
type ProcessLine struct {
	Line            int
	Process, Buffer string // either may be "default"
	Type            string // LOCAL, REMOTE, AUTO
	Host, Ops       string
	Server, Master  bool
	Poll            bool // two connections: reads, and all other requests
}

// Config is a configuration file.
type Config struct {
	Buffers   []BufferLine
	Processes []ProcessLine
}

// Fault is one fault of a configuration file.
type Fault struct {
	File string
	Line int
	Err  error
}

func (f *Fault) Error() string { return fmt.Sprintf("%s:%d: %v", f.File, f.Line, f.Err) }
func (f *Fault) Unwrap() error { return f.Err }

// FirstPort and FirstKey are those of the first buffer of a .cfg file, which names neither.
const (
	FirstPort = 25700
	FirstKey  = 30701
)

// Limits of a configuration file.
const (
	maxLine    = 1024
	maxLines   = 10_000
	overhead   = 64 // bytes that a C++ server adds to a message of a .cfg file
	maxNumber  = 1 << 20
	timeoutINF = "INF"
)

// ParseConfig reads a .nml file, or the .cfg file that one is made from: lines that begin with b or p and have
// key=value words. Other lines are comments, unknown options are ignored. A buffer of another kind or encoding is
// Refused and no fault: the others are used. The error joins one *Fault for each fault; the lines without fault are
// returned.
func ParseConfig(file string, r io.Reader) (*Config, error) {
	p := parser{file: file, config: &Config{}}
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, maxLine), maxLine)
	for in.Scan() && p.line < maxLines {
		p.line++
		words := strings.Fields(in.Text())
		if len(words) == 0 {
			continue
		}
		p.bad = false
		switch words[0] {
		case "B":
			p.buffer(words)
		case "P":
			p.process(words)
		case "b", "p":
			p.pairs(words)
		}
	}
	if err := in.Err(); err != nil {
		p.line++
		p.fault("line: %w (limit %d bytes)", err, maxLine)
	} else if in.Scan() {
		p.fault("file: got more lines, want at most %d", maxLines)
	}
	p.check()
	slices.SortStableFunc(p.faults, func(a, b error) int { return cmp.Compare(a.(*Fault).Line, b.(*Fault).Line) })
	return p.config, errors.Join(p.faults...)
}

type parser struct {
	file   string
	line   int
	config *Config
	faults []error // each a *Fault
	bad    bool    // the line at work has a fault
}

func (p *parser) fault(format string, args ...any) { p.faultAt(p.line, format, args...) }

func (p *parser) faultAt(line int, format string, args ...any) {
	p.bad = true
	p.faults = append(p.faults, &Fault{File: p.file, Line: line, Err: fmt.Errorf(format, args...)})
}

// number reads a word, or otherwise for *.
func (p *parser) number(what, word string, otherwise, low, high int) int {
	if word == "*" {
		return otherwise
	}
	n, err := strconv.ParseInt(word, 0, 32)
	if err != nil || int(n) < low || int(n) > high {
		p.fault("%s: got %q, want %d..%d or *", what, word, low, high)
		return otherwise
	}
	return int(n)
}

func (p *parser) flag(what, word string) bool { return p.number(what, word, 0, 0, 1) == 1 }

func (p *parser) buffer(words []string) {
	want := 10
	if len(words) == want-1 && strings.EqualFold(words[2], "LOCMEM") {
		words = append(words, "*") // memory of one process has no key
	}
	if len(words) > 2 && !slices.Contains([]string{"SHMEM", "LOCMEM", "RTLMEM"}, strings.ToUpper(words[2])) {
		// of a bus, a file, another program: with an address, a name or nothing in place of the key
		keep(p, &p.config.Buffers, BufferLine{Line: p.line, Name: words[1], Type: words[2],
			Refused: fmt.Sprintf("type %s, want SHMEM or LOCMEM", words[2])})
		return
	}
	if len(words) < want {
		p.fault("B line: got %d words, want B name type host size neut rpc number maxprocs key", len(words))
		return
	}
	b := BufferLine{Line: p.line, Name: words[1], Type: strings.ToUpper(words[2]), Host: words[3]}
	b.Size = p.number("size", words[4], DefaultSize, 1, MaxSize)
	p.number("neutral", words[5], 0, 0, 1)
	p.number("rpc program", words[6], 0, 0, 1<<31-1)
	b.Number = int32(p.number("buffer number", words[7], len(p.config.Buffers)+1, 0, maxNumber))
	p.number("maximum processes", words[8], 0, 0, maxNumber)
	b.Key = p.number("key", words[9], 0, 0, 1<<31-1)
	for _, word := range words[want:] {
		p.option(&b, word)
	}
	keep(p, &p.config.Buffers, b)
}

// keep adds a line to those of its kind if it has no fault.
func keep[T any](p *parser, lines *[]T, line T) {
	if !p.bad {
		*lines = append(*lines, line)
	}
}

// option reads one word after the key; its case does not matter.
func (p *parser) option(b *BufferLine, word string) {
	name, value, given := strings.Cut(strings.ToLower(word), "=")
	switch name {
	case "tcp":
		b.Port = p.number("TCP port", value, 0, 1, 65535)
	case "packed", "packedl64":
		b.Encoding = Packed
	case "xdr":
		b.Encoding = XDR
	case "disp":
		b.Encoding = Disp
	case "xml", "ascii":
		b.Refused = fmt.Sprintf("encoding %s, want packed, xdr or disp", name)
	case "queue":
		b.Queue = true
	case "confirm_write":
		b.ConfirmWrite = !given || value != "0"
	case "max_message_size":
		b.MaxMessage = p.number(name, value, 0, 1, MaxSize)
	}
}

func (p *parser) process(words []string) {
	const want = 10
	if len(words) < want {
		p.fault("P line: got %d words, want P process buffer type host ops server timeout master number", len(words))
		return
	}
	q := ProcessLine{Line: p.line, Process: words[1], Buffer: words[2], Type: strings.ToUpper(words[3]),
		Host: words[4], Ops: strings.ToUpper(words[5])}
	switch q.Type {
	case "LOCAL", "REMOTE", "AUTO":
	default:
		p.fault("process type: got %q, want LOCAL, REMOTE or AUTO", words[3])
	}
	if strings.Trim(q.Ops, "RW") != "" {
		p.fault("operations: got %q, want R, W or RW", words[5])
	}
	// 2 and 3 of the server column start a thread or a process that serves
	q.Server = p.number("server", words[6], 0, 0, 3) > 0
	if _, err := strconv.ParseFloat(words[7], 64); err != nil && !strings.EqualFold(words[7], timeoutINF) {
		p.fault("timeout: got %q, want seconds or INF", words[7])
	}
	q.Master = p.flag("master", words[8])
	p.number("connection number", words[9], 0, 0, maxNumber)
	for _, word := range words[want:] {
		q.Poll = q.Poll || strings.EqualFold(word, "poll")
	}
	keep(p, &p.config.Processes, q)
}

// pairs reads a line of a .cfg file.
func (p *parser) pairs(words []string) {
	values := map[string]string{}
	for _, word := range words[1:] {
		name, value, ok := strings.Cut(word, "=")
		if !ok || value == "" {
			p.fault("%s line: got %q, want name=value", words[0], word)
			return
		}
		values[strings.ToLower(name)] = value
	}
	get := func(name, otherwise string) string {
		if v, ok := values[name]; ok {
			return v
		}
		return otherwise
	}
	if words[0] == "p" {
		q := ProcessLine{Line: p.line, Process: get("name", ""), Buffer: get("bufname", ""),
			Type: strings.ToUpper(get("proctype", "auto")), Host: get("host", "localhost"),
			Ops: strings.ToUpper(get("ops", "RW"))}
		q.Server, q.Master = p.number("server", get("server", "0"), 0, 0, 3) > 0, p.flag("master", get("master", "0"))
		if q.Process == "" || q.Buffer == "" {
			p.fault("p line: got no name or bufname, want both")
		}
		keep(p, &p.config.Processes, q)
		return
	}
	n := len(p.config.Buffers)
	b := BufferLine{Line: p.line, Name: get("bufname", get("name", "")), Type: strings.ToUpper(get("buftype", "shmem")),
		Host: get("host", "localhost"), Number: int32(n + 1), Key: FirstKey + n, Port: FirstPort + n}
	if b.Name == "" {
		p.fault("b line: no bufname")
	}
	size := p.number("size", get("size", "*"), DefaultSize, 1, MaxSize)
	b.MaxMessage, b.Size = size, size+overhead
	if length, ok := values["queue"]; ok {
		b.Queue = true
		b.Size = min(MaxSize, size*p.number("queue", length, 1, 1, maxNumber)+overhead)
	}
	p.option(&b, get("neut", get("enc", "packed")))
	keep(p, &p.config.Buffers, b)
}

// check reports faults between lines.
func (p *parser) check() {
	names, places := map[string]int{}, map[[2]int]int{}
	for i := range p.config.Buffers {
		b := &p.config.Buffers[i]
		if before := names[b.Name]; before > 0 {
			p.faultAt(b.Line, "buffer %s: got a second line, want one (the first is line %d)", b.Name, before)
		}
		place := [2]int{b.Port, int(b.Number)}
		if before := places[place]; before > 0 && b.Port > 0 && b.Refused == "" {
			p.faultAt(b.Line, "buffer %s: number %d on port %d is that of line %d", b.Name, b.Number, b.Port, before)
		}
		names[b.Name], places[place] = b.Line, b.Line
	}
	for i := range p.config.Processes {
		q := &p.config.Processes[i]
		if q.Buffer != "default" && names[q.Buffer] == 0 && names["default"] == 0 {
			p.faultAt(q.Line, "process %s: buffer %s has no B line", q.Process, q.Buffer)
		}
	}
}

// Buffer is the line of a buffer: its own or that of default; false if absent.
func (c *Config) Buffer(name string) (BufferLine, bool) {
	for _, want := range []string{name, "default"} {
		for _, b := range c.Buffers {
			if b.Name == want {
				b.Name = name
				return b, true
			}
		}
	}
	return BufferLine{}, false
}

// Options are those of a server's buffer.
func (b *BufferLine) Options(v Vocabulary) BufferOptions {
	size := b.MaxMessage
	if size == 0 || b.Queue {
		size = b.Size
	}
	return BufferOptions{Name: b.Name, Number: b.Number, Size: size, Encoding: b.Encoding, Queue: b.Queue,
		ConfirmWrite: b.ConfirmWrite, Vocabulary: v}
}

// Heading is the first line of a file that WriteTo writes.
const Heading = "# B name type host size neutral rpc number maxprocs key options\n"

// Append appends the B line to out.
func (b *BufferLine) Append(out []byte) []byte {
	out = fmt.Appendf(out, "B %-20s %s %s %d 0 * %d * %d", b.Name, b.Type, b.Host, b.Size, b.Number, b.Key)
	if b.Port > 0 {
		out = fmt.Appendf(out, " TCP=%d", b.Port)
	}
	out = fmt.Appendf(out, " %v", b.Encoding)
	if b.Queue {
		out = append(out, " queue"...)
	}
	if b.ConfirmWrite {
		out = append(out, " confirm_write"...)
	}
	if b.MaxMessage > 0 {
		out = fmt.Appendf(out, " max_message_size=%d", b.MaxMessage)
	}
	return out
}

// WriteTo writes c as a .nml file that rcslib programs open.
func (c *Config) WriteTo(w io.Writer) (int64, error) {
	var out []byte
	out = append(out, Heading...)
	for _, b := range c.Buffers {
		out = append(b.Append(out), '\n')
	}
	out = append(out, "# P process buffer type host operations server timeout master number\n"...)
	for _, q := range c.Processes {
		out = fmt.Appendf(out, "P %-12s %-20s %s %s %s %d %s %d 0", q.Process, q.Buffer, q.Type, q.Host, q.Ops,
			flag(q.Server), timeoutINF, flag(q.Master))
		if q.Poll {
			out = append(out, " poll"...)
		}
		out = append(out, '\n')
	}
	n, err := w.Write(out)
	return int64(n), err
}
