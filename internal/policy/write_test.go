package policy

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"google.golang.org/protobuf/encoding/protowire"
)

// model writes an ONNX file, for tests.
type model struct {
	graph  []byte
	meta   []byte
	random *rand.Rand
	opset  uint64
}

func newModel(seed uint64) *model { return &model{random: rand.New(rand.NewPCG(seed, 36)), opset: 17} }

func message(b []byte, num protowire.Number, inner []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), inner)
}

func number(b []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

func (m *model) port(num protowire.Number, name string, shape ...int) *model {
	var dims []byte
	for _, d := range shape {
		if d == 0 { // left open
			dims = message(dims, 1, message(nil, 2, []byte("batch")))
		} else {
			dims = message(dims, 1, number(nil, 1, uint64(d)))
		}
	}
	typ := message(number(nil, 1, 1), 2, dims)
	m.graph = message(m.graph, num, message(message(nil, 1, []byte(name)), 2, message(nil, 1, typ)))
	return m
}

func (m *model) input(name string, shape ...int) *model  { return m.port(11, name, shape...) }
func (m *model) output(name string, shape ...int) *model { return m.port(12, name, shape...) }

func tensorBytes(name string, v []float32, shape ...int) []byte {
	var b, raw []byte
	for _, d := range shape {
		b = number(b, 1, uint64(d))
	}
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return message(message(number(b, 2, 1), 8, []byte(name)), 9, raw)
}

// weight adds random weights whose sums over terms stay near 1.
func (m *model) weight(name string, terms int, shape ...int) *model {
	n := 1
	for _, d := range shape {
		n *= d
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(m.random.NormFloat64() / math.Sqrt(float64(terms)))
	}
	m.graph = message(m.graph, 5, tensorBytes(name, v, shape...))
	return m
}

func (m *model) floats(name string, v []float32, shape ...int) *model {
	m.graph = message(m.graph, 5, tensorBytes(name, v, shape...))
	return m
}

func (m *model) ints(name string, v ...int64) *model {
	b := number(number(nil, 1, uint64(len(v))), 2, 7)
	for _, x := range v {
		b = number(b, 7, uint64(x))
	}
	m.graph = message(m.graph, 5, message(b, 8, []byte(name)))
	return m
}

// attr is a named attribute: an int, a float, a text, or a list of ints.
type attr struct {
	name string
	v    any
}

func (m *model) node(op, in, out string, attrs ...attr) *model {
	var b []byte
	for _, w := range split2(in) {
		b = message(b, 1, []byte(w))
	}
	for _, w := range split2(out) {
		b = message(b, 2, []byte(w))
	}
	b = message(message(b, 3, []byte(op+"_"+split2(out)[0])), 4, []byte(op))
	for _, a := range attrs {
		x := message(nil, 1, []byte(a.name))
		switch v := a.v.(type) {
		case int:
			x = number(number(x, 3, uint64(v)), 20, 2)
		case float64:
			x = protowire.AppendTag(x, 2, protowire.Fixed32Type)
			x = number(protowire.AppendFixed32(x, math.Float32bits(float32(v))), 20, 1)
		case string:
			x = number(message(x, 4, []byte(v)), 20, 3)
		case []int:
			for _, i := range v {
				x = number(x, 8, uint64(i))
			}
			x = number(x, 20, 7)
		}
		b = message(b, 5, x)
	}
	m.graph = message(m.graph, 1, b)
	return m
}

// split2 splits at commas; "-" is no name.
func split2(s string) (list []string) {
	word := ""
	for _, r := range s + "," {
		switch {
		case r == ',':
			if word == "-" {
				word = ""
			}
			list, word = append(list, word), ""
		default:
			word += string(r)
		}
	}
	return list
}

func (m *model) say(key, value string) *model {
	m.meta = message(m.meta, 14, message(message(nil, 1, []byte(key)), 2, []byte(value)))
	return m
}

func (m *model) bytes() []byte {
	b := number(nil, 1, 8)
	b = message(b, 8, number(message(nil, 1, nil), 2, m.opset))
	g := message(m.graph, 2, []byte("graph"))
	return append(message(b, 7, g), m.meta...)
}

// dense adds a layer of torch's: Gemm with the weights of each unit in a row.
func (m *model) dense(in, out string, terms, units int) *model {
	m.weight(out+"_w", terms, units, terms).weight(out+"_b", 4, units)
	return m.node("Gemm", in+","+out+"_w,"+out+"_b", out, attr{"transB", 1})
}

// networks is the table of networks that were judged by onnxruntime: testdata/networks.
func networks() map[string]*model {
	mlp := func(seed uint64, op string, attrs ...attr) *model {
		m := newModel(seed).input("obs", 1, 13).dense("obs", "a", 13, 16)
		return m.node(op, "a", "b", attrs...).dense("b", "c", 16, 11).node(op, "c", "d", attrs...).
			dense("d", "actions", 11, 5).output("actions", 1, 5)
	}
	out := map[string]*model{
		"elu": mlp(1, "Elu"), "elu-half": mlp(2, "Elu", attr{"alpha", 0.5}), "relu": mlp(3, "Relu"),
		"tanh": mlp(4, "Tanh"), "sigmoid": mlp(5, "Sigmoid"), "softplus": mlp(6, "Softplus"), "selu": mlp(7, "Selu"),
		"leaky": mlp(8, "LeakyRelu", attr{"alpha", 0.2}), "hard-sigmoid": mlp(9, "HardSigmoid"), "erf": mlp(10, "Erf"),
		"softsign": mlp(11, "Softsign"), "celu": mlp(12, "Celu", attr{"alpha", 0.7}),
	}
	out["swish-form"] = newModel(20).input("obs", 0, 13).dense("obs", "a", 13, 16).node("Sigmoid", "a", "s").
		node("Mul", "a,s", "b").dense("b", "actions", 16, 5).output("actions", 0, 5)
	out["gelu-form"] = newModel(21).input("obs", 1, 8).dense("obs", "a", 8, 9).floats("r", []float32{math.Sqrt2}).
		floats("one", []float32{1}).floats("half", []float32{0.5}).node("Div", "a,r", "b").node("Erf", "b", "c").
		node("Add", "c,one", "d").node("Mul", "a,d", "e").node("Mul", "e,half", "actions").output("actions", 1, 9)
	out["matmul"] = newModel(22).input("obs", 1, 13).weight("w", 13, 13, 7).weight("b", 4, 7).
		node("MatMul", "obs,w", "a").node("Add", "a,b", "c").node("Tanh", "c", "actions").output("actions", 1, 7)
	out["normaliser"] = newModel(23).input("obs", 1, 6).weight("mean", 1, 1, 6).
		floats("std", []float32{0.3, 1, 2.5, 0.02, 7, 1.1}, 1, 6).floats("eps", []float32{0.01}).
		floats("low", []float32{-5}).floats("high", []float32{5}).node("Sub", "obs,mean", "a").
		node("Add", "std,eps", "s").node("Div", "a,s", "b").node("Clip", "b,low,high", "c").
		dense("c", "actions", 6, 4).output("actions", 1, 4)
	out["layer-norm"] = newModel(24).input("obs", 1, 13).dense("obs", "a", 13, 16).weight("g", 1, 16).weight("o", 1,
		16).
		node("LayerNormalization", "a,g,o", "b", attr{"axis", -1}, attr{"epsilon", 1e-4}).node("Elu", "b", "c").
		dense("c", "actions", 16, 5).output("actions", 1, 5)
	out["norm-by-hand"] = newModel(25).input("obs", 1, 9).floats("two", []float32{2}).floats("eps", []float32{1e-5}).
		node("ReduceMean", "obs", "m", attr{"axes", []int{-1}}).node("Sub", "obs,m", "d").node("Pow", "d,two", "q").
		node("ReduceMean", "q", "v", attr{"axes", []int{-1}}).node("Add", "v,eps", "w").node("Sqrt", "w", "s").
		node("Div", "d,s", "actions").output("actions", 1, 9)
	out["batch-norm"] = newModel(26).input("obs", 1, 6).weight("g", 1, 6).weight("o", 1, 6).weight("mean", 1, 6).
		floats("var", []float32{0.3, 1, 2.5, 0.02, 7, 1.1}, 6).
		node("BatchNormalization", "obs,g,o,mean,var", "actions").output("actions", 1, 6)
	lstm := func(seed uint64, op string, gates, dirs int, attrs ...attr) *model {
		m := newModel(seed).input("obs", 3, 1, 6).input("h_in", dirs, 1, 5)
		ins, outs := "obs,w,r,b,-,h_in", "y,h_out"
		if gates == 4 {
			m.input("c_in", dirs, 1, 5)
			ins, outs = ins+",c_in", outs+",c_out"
		}
		m.weight("w", 6, dirs, gates*5, 6).weight("r", 5, dirs, gates*5, 5).weight("b", 4, dirs, gates*10)
		m.node(op, ins, outs, append(attrs, attr{"hidden_size", 5})...)
		m.output("y", 3, dirs, 1, 5).output("h_out", dirs, 1, 5)
		if gates == 4 {
			m.output("c_out", dirs, 1, 5)
		}
		return m
	}
	out["lstm"] = lstm(30, "LSTM", 4, 1)
	out["lstm-both"] = lstm(31, "LSTM", 4, 2, attr{"direction", "bidirectional"})
	out["gru-linear"] = lstm(32, "GRU", 3, 1, attr{"linear_before_reset", 1})
	out["gru"] = lstm(33, "GRU", 3, 1)
	out["gru-reverse"] = lstm(34, "GRU", 3, 1, attr{"direction", "reverse"})
	out["lstm-policy"] = newModel(35).input("obs", 1, 6).input("h_in", 1, 1, 8).input("c_in", 1, 1, 8).ints("axes", 0).
		node("Unsqueeze", "obs,axes", "x").weight("w", 6, 1, 32, 6).weight("r", 8, 1, 32, 8).weight("b", 4, 1, 64).
		node("LSTM", "x,w,r,b,-,h_in,c_in", "y,h_out,c_out", attr{"hidden_size", 8}).ints("out", 0, 1).
		node("Squeeze", "y,out", "z").dense("z", "actions", 8, 3).output("actions", 1, 3).output("h_out", 1, 1, 8).
		output("c_out", 1, 1, 8)
	out["gru-policy"] = newModel(36).input("obs", 1, 2).input("h_in", 1, 1, 4).ints("axes", 0).
		node("Unsqueeze", "obs,axes", "x").weight("w", 2, 1, 12, 2).weight("r", 4, 1, 12, 4).weight("b", 4, 1, 24).
		node("GRU", "x,w,r,b,-,h_in", "y,h_out", attr{"hidden_size", 4}, attr{"linear_before_reset", 1}).
		ints("out", 0, 1).node("Squeeze", "y,out", "z").dense("z", "actions", 4, 2).output("actions", 1, 2).
		output("h_out", 1, 1, 4)
	out["conv"] = newModel(40).input("obs", 1, 20).ints("shape", 0, 4, -1).node("Reshape", "obs,shape", "x").
		weight("w", 12, 6, 4, 3).weight("b", 4, 6).
		node("Conv", "x,w,b", "y", attr{"pads", []int{1, 2}}, attr{"strides", []int{2}}).node("Elu", "y", "z").
		node("Flatten", "z", "f").dense("f", "actions", 18, 3).output("actions", 1, 3)
	out["conv-groups"] = newModel(41).input("obs", 1, 4, 9).weight("w", 6, 4, 2, 2).
		node("Conv", "obs,w", "actions", attr{"group", 2}, attr{"dilations", []int{3}}).output("actions", 1, 4, 6)
	out["parts"] = newModel(50).input("obs", 1, 10).input("command", 1, 3).
		ints("i", 0, 4, -1).ints("s1", 2).ints("e1", 9223372036854775807).ints("a1", 1).ints("k1", 3).
		node("Slice", "obs,s1,e1,a1,k1", "p").node("Concat", "p,command,obs", "q", attr{"axis", 1}).
		node("Gather", "q,i", "r", attr{"axis", 1}).ints("l", 5, 11).
		node("Split", "q,l", "u,v", attr{"axis", 1}).node("Transpose", "u", "t").node("MatMul", "t,u", "w").
		node("ReduceSum", "w", "x", attr{"keepdims", 0}).node("Softmax", "v", "y").
		node("Concat", "r,y", "z", attr{"axis", 1}).node("Add", "z,x", "actions").output("actions", 1, 14)
	out["range"] = newModel(51).input("obs", 2, 3).floats("m", []float32{1, -1, 0.2}, 3).node("Min", "obs,m", "a").
		node("Max", "a,obs,m", "b").ints("big", 2, 2, 3).node("Expand", "b,big", "c").node("Exp", "c", "d").
		node("Log", "d", "e").node("Abs", "e", "f").node("Neg", "f", "g").node("ReduceL2", "g", "h",
		attr{"axes", []int{1}}).
		node("ReduceMax", "g", "i", attr{"axes", []int{1}}).node("Sub", "h,i", "j").node("Sin", "j", "k").
		node("Cos", "j", "l").node("Concat", "k,l", "actions", attr{"axis", 0}).output("actions", 4, 1, 3)
	deep := newModel(60).input("obs", 1, 24).dense("obs", "a", 24, 48).node("Elu", "a", "b").dense("b", "c", 48, 32).
		node("Elu", "c", "d").dense("d", "e", 32, 24).node("Elu", "e", "f").dense("f", "actions", 24, 12)
	out["deep"] = deep.output("actions", 1, 12).say("joint_names", "a,b,c").say("action_scale", "0.25")
	return out
}
