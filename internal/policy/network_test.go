package policy

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// update writes the networks of the table again; then their answers must be computed again (testdata/README.md).
var update = flag.Bool("update", false, "write testdata/networks")

// answer is what onnxruntime computed.
type answer struct {
	Inputs, Outputs map[string][]float32
}

func TestNetworksAgainstOnnxruntime(t *testing.T) {
	dir := filepath.Join("testdata", "networks")
	if *update {
		for name, m := range networks() {
			if err := os.WriteFile(filepath.Join(dir, name+".onnx"), m.bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "answers.json"))
	if err != nil {
		t.Fatal(err)
	}
	var answers map[string][]answer
	if err := json.Unmarshal(data, &answers); err != nil {
		t.Fatal(err)
	}
	worst := 0.0
	for name := range networks() {
		data, err := os.ReadFile(filepath.Join(dir, name+".onnx"))
		if err != nil {
			t.Fatal(err)
		}
		net, err := Read(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(answers[name]) == 0 {
			t.Errorf("%s: got no answers", name)
		}
		for _, a := range answers[name] {
			for _, in := range net.Inputs {
				if copy(in.Values, a.Inputs[in.Name]) != len(in.Values) {
					t.Fatalf("%s: %s: got %d values", name, in.Name, len(in.Values))
				}
			}
			net.Run()
			for _, out := range net.Outputs {
				want := a.Outputs[out.Name]
				if len(want) != len(out.Values) {
					t.Fatalf("%s: %s: got %d values, want %d", name, out.Name, len(out.Values), len(want))
				}
				for i, v := range out.Values {
					off := math.Abs(float64(v)-float64(want[i])) / max(1, math.Abs(float64(want[i])))
					if worst = max(worst, off); !(off <= 1e-6) {
						t.Errorf("%s: %s[%d]: got %v, want %v", name, out.Name, i, v, want[i])
					}
				}
			}
		}
		if n := testing.AllocsPerRun(20, net.Run); n != 0 {
			t.Errorf("%s: got %v allocations a step, want 0", name, n)
		}
	}
	t.Logf("%d networks, greatest difference %.2g", len(answers), worst)
}

func TestRefusedByName(t *testing.T) {
	bare := func() *model { return newModel(1).input("obs", 1, 4).output("actions", 1, 4) }
	for want, m := range map[string]*model{
		`node "RandomNormalLike_actions": RandomNormalLike: got operator "RandomNormalLike"`: bare().
			node("RandomNormalLike", "obs", "actions"),
		`node "Elu_actions": Elu: input "nothing"`: bare().node("Elu", "nothing", "actions"),
		`output "actions": got no node`:            bare().node("Elu", "obs", "b"),
		`Gemm: got shapes [1 4] and [3 5]`: bare().weight("w", 1, 3, 5).node("Gemm", "obs,w",
			"actions"),
		`second value`: bare().node("Elu", "obs", "b").node("Elu", "obs", "b"),
		`got shapes [1 4] and [3]`: bare().weight("w", 1, 3).node("Add", "obs,w",
			"actions"),
		`activations: got ["Relu"`: relus(),
		`want a constant`: bare().input("s", 2).node("Reshape", "obs,s",
			"actions"),
		`ConstantOfShape: got a tensor of [9000000`: bare().ints("s", 9000000, 9).node("ConstantOfShape",
			"s", "x"),
		`Conv: got shapes [1 4] and [1 1 1 1], want a convolut`: bare().weight("w", 1, 1, 1, 1, 1).node("Conv", "obs,w",
			"y"),
		`a step of more than`: newModel(1).input("obs", 2900, 2800).weight("w", 1, 2800, 10).
			node("Gemm", "obs,w", "y").node("Gemm", "obs,w", "z").node("Gemm", "obs,w", "u").node("Gemm", "obs,w", "v"),
		`got no outputs`: splitNothing(),
		`want 1 to`: bare().ints("z", 0, 8000000).
			node("ConstantOfShape", "z", "y"),
	} {
		_, err := Read(m.bytes())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for _, text := range []string{"", "no model", "\x3a\x00", "\x08\x07"} {
		if _, err := Read([]byte(text)); err == nil {
			t.Errorf("%q: got no error", text)
		}
	}
}

func splitNothing() *model {
	m := newModel(1).input("obs", 1, 4)
	m.graph = message(m.graph, 1, message(message(nil, 1, []byte("obs")), 4, []byte("Split")))
	return m
}

func relus() *model {
	m := newModel(1).input("x", 1, 1, 2).weight("w", 1, 1, 6, 2).weight("r", 1, 1, 6, 2)
	m.graph = message(m.graph, 1, message(message(message(message(message(message(nil, 1, []byte("x")), 1, []byte("w")),
		1, []byte("r")), 2, []byte("y")), 4, []byte("GRU")), 5,
		message(message(message(nil, 1, []byte("activations")), 9, []byte("Relu")), 9, []byte("Tanh"))))
	return m.output("y", 1, 1, 1, 2)
}

func FuzzRead(f *testing.F) {
	for _, m := range networks() {
		f.Add(m.bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if net, err := Read(data); err == nil && net.values < 1<<16 && net.work < 1<<20 {
			for _, in := range net.Inputs {
				for i := range in.Values {
					in.Values[i] = float32(i%7) - 3
				}
			}
			net.Run()
		}
	})
}

// The functions of layers are those of the standard library, whose last bits differ between processors.
func TestActivations(t *testing.T) {
	of := map[string]func(float64) float64{"tanh": math.Tanh, "sin": math.Sin, "softplus": func(x float64) float64 {
		return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
	}, "linear": func(x float64) float64 { return x }, "relu": func(x float64) float64 { return max(0, x) },
		"elu":     func(x float64) float64 { return max(x, math.Expm1(min(x, 0))) },
		"sigmoid": func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
		"silu":    func(x float64) float64 { return x / (1 + math.Exp(-x)) },
		"gelu":    func(x float64) float64 { return x / 2 * math.Erfc(-x/math.Sqrt2) }}
	for _, a := range activations {
		for x := -40.0; x < 40; x += 0.0137 {
			if got, want := a.f(x), of[a.name](x); math.Abs(got-want) > 1e-14 {
				t.Fatalf("%s(%v): got %v, want %v", a.name, x, got, want)
			}
		}
	}
}

func BenchmarkBiped(b *testing.B) {
	m := newModel(1).input("obs", 1, 51).dense("obs", "a", 51, 256).node("Elu", "a", "b").dense("b", "c", 256, 128).
		node("Elu", "c", "d").dense("d", "e", 128, 64).node("Elu", "e", "f").dense("f", "actions", 64, 14).
		output("actions", 1, 14)
	net, err := Read(m.bytes())
	if err != nil {
		b.Fatal(err)
	}
	for i := range net.Inputs[0].Values {
		net.Inputs[0].Values[i] = float32(math.Sin(float64(i)))
	}
	b.ReportAllocs()
	for b.Loop() {
		net.Run()
	}
}
