package configs

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Reference returns docs/config.md: every key with its rule, default and meaning, made of the tags of the structs.
func Reference() string {
	var b strings.Builder
	b.WriteString(`# The config

One YAML file describes one rig. Unknown keys are errors; all errors are reported together. Relative paths start at the folder
of the file. Anchors, aliases, tags and merge keys are refused; a file has at most 384 KiB, 32 levels and 200 keys in one table. A duration has a unit: ` + "`10ms`" + `; ` + "`none`" + ` and ` + "`0s`" + ` are equal where 0s
is allowed. ` + "`halyard configs NAME`" + ` prints an embedded config (` + strings.Join(Names(), ", ") + `),
` + "`halyard validate FILE`" + ` checks a file, and ` + "`--set PATH=VALUE`" + ` overrides a key for one run.

Generated from the source by the tests of package configs; do not edit.
`)
	section(&b, "", reflect.TypeFor[Config](), map[reflect.Type]string{})
	return b.String()
}

// section writes the table of t, then the sections of its structs. It only names a type that was written before.
func section(b *strings.Builder, path string, t reflect.Type, seen map[reflect.Type]string) {
	title := "`" + path + "`"
	if path == "" {
		title = "The file"
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	seen[t] = path
	b.WriteString("| key | value | default | meaning |\n| --- | --- | --- | --- |\n")
	for _, f := range yaml.Fields(t) {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", f.Name, valueText(f), defaultText(f), f.Tag.Get("doc"))
	}
	for _, f := range yaml.Fields(t) {
		// Classes repeat a robot's keys; their section refers to those instead of listing them again.
		inner, suffix := contained(f.Type)
		if inner == nil {
			continue
		}
		below := strings.TrimPrefix(path+"."+f.Name+suffix, ".")
		if inner == reflect.TypeFor[Robot]() {
			fmt.Fprintf(b, "\n## `%s`\n\nThe keys of `agents[]`, but for `name` and `pose`.\n", below)
		} else if _, written := seen[inner]; !written {
			section(b, below, inner, seen)
		}
	}
}

// contained is the struct that a key's value is or has many of, and how its items are written.
func contained(t reflect.Type) (inner reflect.Type, suffix string) {
	switch t.Kind() {
	case reflect.Pointer:
		t = t.Elem()
	case reflect.Slice:
		t, suffix = t.Elem(), "[]"
	case reflect.Map:
		t, suffix = t.Elem(), ".NAME"
	}
	if t.Kind() != reflect.Struct {
		return nil, ""
	}
	return t, suffix
}

// valueText returns the rule as a cell: the contents of maps and lists have sections of their own.
func valueText(f yaml.Field) string {
	switch t := f.Type; {
	case t.Kind() == reflect.Map && f.Tag.Get("enum") != "":
		return "names with " + yaml.Words(strings.Split(f.Tag.Get("enum"), "|"))
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Int:
		return "names with whole numbers"
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Float64:
		return "names with numbers"
	case t.Kind() == reflect.Map:
		return "names with tables"
	case t == reflect.TypeFor[[]Line]():
		return "a list of lines"
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return "a list of texts"
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Float64:
		return "a list of numbers"
	case t.Kind() == reflect.Slice:
		return "a list of tables"
	case t == reflect.TypeFor[time.Duration](), t.Kind() == reflect.Array:
		return yaml.Rule(t, f.Tag, forms)
	default:
		return strings.ReplaceAll(yaml.Rule(t, f.Tag, forms), "|", "\\|")
	}
}

// defaultText is the default as a cell, in code where it can be typed and in words where it depends on other keys.
func defaultText(f yaml.Field) string {
	switch {
	case f.Tag.Get("required") == "true":
		return "required"
	case f.Tag.Get("required") != "":
		word, key, _ := strings.Cut(f.Tag.Get("required"), " ")
		return fmt.Sprintf("required %s `%s`", word, key)
	case f.Tag.Get("otherwise") != "":
		return f.Tag.Get("otherwise")
	case f.Tag.Get("default") != "":
		return "`" + f.Tag.Get("default") + "`"
	}
	return ""
}
