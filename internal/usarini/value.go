package usarini

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Bounds of one value.
const (
	maxDepth  = 16
	maxFields = 4096
)

// value is the tree of a value: fields if it is in parentheses, else text.
type value struct {
	text   string
	fields []field
	list   bool // it is in parentheses
}

// field is one part of a value in parentheses; its name is "" in a list.
type field struct {
	name  string
	value value
}

// parse parses a value's text.
func parse(text string) (value, error) {
	p := parser{rest: text}
	v, err := p.value(0)
	rest := strings.TrimSpace(p.rest)
	if err == nil && rest != "" && rest[0] != ';' {
		err = fmt.Errorf("%s after the value", yaml.Quote(rest))
	}
	return v, err
}

type parser struct {
	rest   string
	fields int
}

// value parses the next value of p.rest; level counts the parentheses around it.
func (p *parser) value(level int) (value, error) {
	p.rest = strings.TrimLeft(p.rest, " \t")
	if !strings.HasPrefix(p.rest, "(") {
		text, err := p.text(level)
		return value{text: text}, err
	}
	if level == maxDepth {
		return value{}, fmt.Errorf("more than %d parentheses in one another", maxDepth)
	}
	p.rest = p.rest[1:]
	v := value{list: true}
	for {
		p.rest = strings.TrimLeft(p.rest, " \t,") // Unreal writes empty fields too
		switch {
		case p.rest == "":
			return v, errors.New("a parenthesis that is not closed")
		case p.rest[0] == ')':
			p.rest = p.rest[1:]
			return v, nil
		}
		if p.fields++; p.fields > maxFields {
			return v, fmt.Errorf("more than %d fields", maxFields)
		}
		f := field{name: p.name()}
		var err error
		if f.value, err = p.value(level + 1); err != nil {
			return v, err
		}
		v.fields = append(v.fields, f)
		if p.rest = strings.TrimLeft(p.rest, " \t"); p.rest != "" && p.rest[0] != ',' && p.rest[0] != ')' {
			return v, fmt.Errorf("%s after a field", yaml.Quote(p.rest))
		}
	}
}

// name returns the name before a "=", "" if the field has only a value.
func (p *parser) name() string {
	n := strings.IndexAny(p.rest, "=,()\"'")
	if n <= 0 || p.rest[n] != '=' {
		return ""
	}
	name := strings.TrimSpace(p.rest[:n])
	p.rest = p.rest[n+1:]
	return name
}

// text is a quoted text, a class'...', or a word: within parentheses up to the next "," or ")", else the whole rest.
func (p *parser) text(level int) (string, error) {
	if strings.HasPrefix(p.rest, `"`) {
		end := strings.IndexByte(p.rest[1:], '"')
		if end < 0 {
			return "", errors.New("a quote that is not closed")
		}
		text := p.rest[1 : 1+end]
		p.rest = p.rest[end+2:]
		return text, nil
	}
	stop := ",)"
	if level == 0 {
		stop = ";" // a comment at the end of the line
	}
	n := strings.IndexAny(p.rest, stop+"'")
	if n >= 0 && p.rest[n] == '\'' {
		end := strings.IndexByte(p.rest[n+1:], '\'')
		if end < 0 {
			return "", errors.New("a quote that is not closed")
		}
		text := p.rest[n+1 : n+1+end]
		p.rest = p.rest[n+end+2:]
		return strings.TrimSpace(text), nil
	}
	if n < 0 {
		n = len(p.rest)
	}
	text := strings.TrimSpace(p.rest[:n])
	if p.rest = p.rest[n:]; level == 0 {
		p.rest = ""
	}
	if strings.ContainsAny(text, "()\"") {
		return "", fmt.Errorf("%s: a parenthesis or quote within a word", yaml.Quote(text))
	}
	return text, nil
}

// number is a finite number; a comma in the place of its point is taken for one, as the manual has it.
func number(text string) (float64, bool) {
	if strings.Count(text, ",") == 1 && !strings.Contains(text, ".") {
		text = strings.Replace(text, ",", ".", 1)
	}
	if strings.ContainsAny(text, "xXpP_nN") { // no hexadecimal, no NaN, no Inf
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "f"), 64)
	return v, err == nil && !math.IsInf(v, 0)
}

// truth parses Unreal's True or False.
func truth(text string) (v, ok bool) {
	switch strings.ToLower(text) {
	case "true", "1":
		return true, true
	case "false", "0":
		return false, true
	}
	return false, false
}
