package actuator

import (
	"fmt"
	"strings"
)

// identification holds values measured on a real servo: the motor's constants and a friction model. They are valid only
// together.
type identification struct {
	servo           string
	kt, r, armature float64 // N·m/A, Ω, kg·m²
	friction        Friction
	droop           float64 // Ω
	recordings      string  // of halyard identify; "" = BAM
}

// of reports whether id is of the servo called name. MX servos are the same ones under both protocols.
func (id *identification) of(name string) bool { return id.servo == strings.TrimSuffix(name, "-2") }

// use gives k the identified values.
func (k *Spec) use(id *identification) {
	k.Kt, k.R, k.Armature, k.Friction, k.Droop = id.kt, id.r, id.armature, id.friction, id.droop
	if k.Fit = fmt.Sprintf("BAM M%d", id.friction.Model); id.recordings != "" {
		k.Fit = fmt.Sprintf("identified M%d + droop, %s", id.friction.Model, id.recordings)
	}
}

// identified are the parameters that Rhoban's BAM publishes (arXiv 2410.08650, Apache-2.0), identified on a pendulum
// bench; of each servo the model with the smallest error last. The rows of recordings are those that halyard identify
// found (docs/identify.md), for the model with the best prediction of data not used in the fit. They are after those of
// BAM, which were also fitted on recordings, but not over the whole range of duty.
var identified = []identification{
	{"mx-64", 1.6225, 3.949, 0.01195, Friction{Model: 1, Kb: 0.0904, Kv: 0.0117}, 0, ""},
	{"mx-64", 1.6632, 3.156, 0.01096, mx64M4, 0, ""},
	{"mx-64", 1.6017, 2.316, 0.01227, mx64M6, 0, ""},
	{"mx-106", 2.1914, 2.965, 0.02661, Friction{Model: 1, Kb: 0.1035, Kv: 0.0352}, 0, ""},
	{"mx-106", 2.2314, 2.372, 0.02457, mx106M4, 0, ""},
	{"mx-106", 2.2098, 2.034, 0.02602, mx106M6, 0, ""},
	{"xl-320", 0.987, 35.6, 0.00112, Friction{Model: 1, Kb: 0.0275, Kv: 0.00332}, 0, ""},
	{"xl-320", 1.0088, 31.59, 0.00116, Friction{Model: 6, Ks: 0.0163, Kv: 0.00723, Ke: 0.1583, Kes: 0.2455, Dqs: 2.301,
		Alpha: 1.707}, 0, ""},
	{"xl330-m288", 0.3867, 4.017, 0.00181, Friction{Model: 1, Kb: 0.0128, Kv: 0.00366}, 0, ""},
	{"xl330-m288", 0.3804, 3.38, 0.00192, Friction{Model: 3, Kb: 0.00888, Kv: 0.00438, Kl: 0.12166}, 0, ""},
	{"xl330-m288", 0.3862, 3.403, 0.0019, Friction{Model: 4, Kb: 0.00876, Kv: 0.00462, Kl: 0.068, Kls: 0.0738,
		Dqs: 2.558, Alpha: 0.76}, 0, ""},
	{"xl330-m288", 0.366, 2.811, 0.00181, Friction{
		Model: 6, Kb: 0.00477, Ks: 0.00468, Kv: 0.00536,
		Km: 0.2668, Kes: 0.0808, Kmq: 0.00997, Keq: 0.0049, Dqs: 2.89, Alpha: 8.68,
	}, 0, ""},
	{"sts3215", 1.2116, 2.676, 0.0284, Friction{Model: 1, Kb: 0.0524, Kv: 0.0591}, 0, ""},
	// BAM's recordings of an XL330-M288 at 7.4 V with 0.49 kg on 0.1 m: 1.0 degrees on average over twelve, BAM's best
	// 4.1.
	{"xl330-m288", 0.34631, 2.8122, 0.0017101, Friction{
		Model: 5, Kb: 0.005086, Ks: 0.014734, Kv: 0.0079945,
		Km: 0.261, Ke: 0.064721, Kms: 0.031136, Kes: 0.11156, Dqs: 0.46463, Alpha: 1,
	}, 1.46, "12 recordings"},
}

var (
	mx64M4 = Friction{Model: 4, Kb: 0.0615, Ks: 0.0239, Kv: 0.01476, Kls: 0.2343, Dqs: 1.521, Alpha: 1.334}
	mx64M6 = Friction{
		Model: 6, Ks: 0.1227, Kv: 0.02534,
		Km: 0.3115, Kms: 0.1877, Kes: 0.0141, Kmq: 0.0069, Keq: 0.01, Dqs: 2.575, Alpha: 0.841,
	}
	mx106M4 = Friction{Model: 4, Ks: 0.1049, Kv: 0.05096, Kl: 0.00915, Kls: 0.2224, Dqs: 1.623, Alpha: 1.324}
	mx106M6 = Friction{
		Model: 6, Ks: 0.122, Kv: 0.0507,
		Km: 0.198, Ke: 0.0222, Kms: 0.1986, Kes: 0.0871, Kmq: 0.01, Keq: 7e-5, Dqs: 1.746, Alpha: 1.143,
	}
)
