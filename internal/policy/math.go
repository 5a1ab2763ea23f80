package policy

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/exact"
)

// function is one of a real variable.
type function func(x float64) float64

// unary has the operators that treat each value alone, by their attributes.
var unary = map[string]func(b *build) function{
	"Relu":       plain(func(x float64) float64 { return max(0, x) }),
	"Tanh":       plain(tanh),
	"Sigmoid":    plain(sigmoid),
	"Softplus":   plain(softplus),
	"Softsign":   plain(func(x float64) float64 { return x / (1 + math.Abs(x)) }),
	"Abs":        plain(math.Abs),
	"Neg":        plain(func(x float64) float64 { return -x }),
	"Sqrt":       plain(math.Sqrt),
	"Reciprocal": plain(func(x float64) float64 { return 1 / x }),
	"Exp":        plain(exact.Exp),
	"Log":        plain(exact.Log),
	"Sin":        plain(exact.Sin),
	"Cos":        plain(exact.Cos),
	"Erf":        plain(math.Erf),
	"Floor":      plain(math.Floor),
	"Mish":       plain(func(x float64) float64 { return x * tanh(softplus(x)) }),
	"HardSwish":  plain(func(x float64) float64 { return x * min(1, max(0, x/6+0.5)) }),
	"Elu": func(b *build) function {
		alpha := b.float("alpha", 1)
		return func(x float64) float64 { return elu(x, alpha) }
	},
	"Celu": func(b *build) function {
		alpha := b.float("alpha", 1)
		return func(x float64) float64 { return elu(x/alpha, 1) * alpha }
	},
	"Selu": func(b *build) function {
		alpha, gamma := b.float("alpha", 1.6732632), b.float("gamma", 1.0507010)
		return func(x float64) float64 { return gamma * elu(x, alpha) }
	},
	"LeakyRelu": func(b *build) function {
		alpha := b.float("alpha", 0.01)
		return func(x float64) float64 {
			if x < 0 {
				return alpha * x
			}
			return x
		}
	},
	"HardSigmoid": func(b *build) function {
		alpha, beta := b.float("alpha", 0.2), b.float("beta", 0.5)
		return func(x float64) float64 { return min(1, max(0, float64(alpha*x)+beta)) }
	},
	"Swish": func(b *build) function {
		alpha := b.float("alpha", 1)
		return func(x float64) float64 { return x * sigmoid(alpha*x) }
	},
	"Gelu": func(b *build) function {
		if b.attr["approximate"].s == "tanh" {
			return func(x float64) float64 {
				return 0.5 * x * (1 + tanh(math.Sqrt(2/math.Pi)*(x+float64(0.044715*x*x*x))))
			}
		}
		return func(x float64) float64 { return 0.5 * x * (1 + math.Erf(x/math.Sqrt2)) }
	},
}

// plain is a function without attributes.
func plain(f function) func(*build) function { return func(*build) function { return f } }

func tanh(x float64) float64 {
	if x < 0 {
		return -tanh(-x)
	}
	e := exact.Exp(-2 * x)
	return (1 - e) / (1 + e)
}

func sigmoid(x float64) float64 { return 1 / (1 + exact.Exp(-x)) }

func softplus(x float64) float64 { return max(x, 0) + exact.Log(1+exact.Exp(-math.Abs(x))) }

func elu(x, alpha float64) float64 {
	if x < 0 {
		return alpha * (exact.Exp(x) - 1)
	}
	return x
}

// product computes sums: out[u] = sum of x[k] w[u, k]. The sums are float64, in which a product of
// two float32 is exact: no processor rounds it in another way.
type product struct {
	units, terms int
	w            []float64 // units × terms
	x            []float64 // terms
}

// row sets out to the products of one row of x.
func (p *product) row(x []float32, out []float64) {
	for k, v := range x[:p.terms] {
		p.x[k] = float64(v)
	}
	n, xs := p.terms, p.x[:p.terms]
	u := 0
	for ; u+4 <= p.units; u += 4 {
		w0, w1 := p.w[u*n:][:n], p.w[(u+1)*n:][:n]
		w2, w3 := p.w[(u+2)*n:][:n], p.w[(u+3)*n:][:n]
		var s0, s1, s2, s3 float64
		for k, v := range xs {
			s0 += w0[k] * v
			s1 += w1[k] * v
			s2 += w2[k] * v
			s3 += w3[k] * v
		}
		out[u], out[u+1], out[u+2], out[u+3] = s0, s1, s2, s3
	}
	for ; u < p.units; u++ {
		s := 0.0
		for k, v := range xs {
			s += p.w[u*n+k] * v
		}
		out[u] = s
	}
}

// newProduct has room for its weights.
func newProduct(net *Network, units, terms int) (*product, error) {
	n, err := volume([]int{units, terms})
	if err == nil {
		err = net.room(2 * n)
	}
	if err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	return &product{units: units, terms: terms, w: make([]float64, n), x: make([]float64, terms)}, nil
}

// set takes the weights from v, whose element (u, k) is at u*unit + k*term.
func (p *product) set(v []float32, unit, term int) {
	for u := range p.units {
		for k := range p.terms {
			p.w[u*p.terms+k] = float64(v[u*unit+k*term])
		}
	}
}
