package record

import (
	"cmp"
	"encoding/json"
	"strconv"
	"time"
)

// The keys of the metadata record "halyard".
const (
	keyVersion = "version"
	keyRig     = "rig"
	keyClock   = "clock"
	keyPeriod  = "period"
	keySeed    = "seed"
	keyStarted = "started"
	keyFirst   = "first_cycle"
	keySource  = "config"
	keyOptions = "options"
	keyAbsent  = "not_attached"
)

type infoOptions struct {
	Set    []string `json:"set,omitempty"`
	Body   string   `json:"body,omitempty"`
	Listen []string `json:"listen,omitempty"`
}

func (i *Info) metadata() map[string]string {
	options, _ := json.Marshal(infoOptions{i.Set, i.Body, i.Listen})
	absent, _ := json.Marshal(i.Absent)
	return map[string]string{keyVersion: i.Version, keyRig: i.Rig, keyClock: i.Clock, keyPeriod: i.Period.String(),
		keySeed: strconv.FormatInt(i.Seed, 10), keyStarted: i.Started.UTC().Format(time.RFC3339Nano),
		keyFirst: strconv.FormatUint(i.First, 10), keySource: i.Source, keyOptions: string(options),
		keyAbsent: string(absent)}
}

// infoOf reads metadata; missing keys stay zero.
func infoOf(m map[string]string) (i Info, err error) {
	i = Info{Version: m[keyVersion], Rig: m[keyRig], Clock: m[keyClock], Source: m[keySource]}
	var o infoOptions
	var errs [6]error
	i.Period, errs[0] = time.ParseDuration(m[keyPeriod])
	i.Seed, errs[1] = strconv.ParseInt(m[keySeed], 10, 64)
	i.Started, errs[2] = time.Parse(time.RFC3339Nano, m[keyStarted])
	i.First, errs[3] = strconv.ParseUint(m[keyFirst], 10, 64)
	errs[4] = json.Unmarshal([]byte(m[keyOptions]), &o)
	errs[5] = json.Unmarshal([]byte(m[keyAbsent]), &i.Absent)
	i.Set, i.Body, i.Listen = o.Set, o.Body, o.Listen
	return i, cmp.Or(errs[:]...)
}
