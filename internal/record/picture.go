package record

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

const (
	pictureSuffix = "/compressed"
	maxPictures   = 8 // that wait for the writer
	pictureSchema = `{"title":"foxglove.CompressedImage","type":"object","properties":{"timestamp":{"type":"object","title":"time","properties":{"sec":{"type":"integer","minimum":0},"nsec":{"type":"integer","minimum":0,"maximum":999999999}}},` +
		`"frame_id":{"type":"string"},"data":{"type":"string","contentEncoding":"base64"},"format":{"type":"string"}}}`
)

// picture is an image of a camera, compressed.
type picture struct {
	topic, format string
	time          time.Duration // rig time that it shows
	data          []byte
}

// Picture adds a picture of a camera of agent, taken at rig time at, to the recording. format is jpeg or png; the
// recording owns data from then on. It never blocks: if the writer is behind, or no reader would take so large a
// picture, it is dropped and counted.
func (r *Recording) Picture(agent, camera string, at time.Duration, format string, data []byte) {
	if len(data) > maxPicture-4096 {
		r.lostPictures.Add(1)
		return
	}
	select {
	case r.pictures <- picture{"/" + agent + "/" + camera + pictureSuffix, format, at, data}:
	default:
		r.lostPictures.Add(1)
	}
}

// writePicture writes p as a foxglove.CompressedImage.
func (r *Recording) writePicture(p *picture, buf []byte) ([]byte, error) {
	if err := r.out.Channel(p.topic, "foxglove.CompressedImage", pictureSchema); err != nil {
		return buf, err
	}
	at := r.info.Started.Add(p.time)
	buf = strconv.AppendInt(append(buf[:0], `{"timestamp":{"sec":`...), at.Unix(), 10)
	buf = strconv.AppendInt(append(buf, `,"nsec":`...), int64(at.Nanosecond()), 10)
	buf = appendText(append(buf, `},"frame_id":`...),
		strings.TrimSuffix(strings.TrimPrefix(p.topic, "/"), pictureSuffix))
	buf = appendText(append(buf, `,"format":`...), p.format)
	buf = base64.StdEncoding.AppendEncode(append(buf, `,"data":"`...), p.data)
	buf = append(buf, `"}`...)
	return buf, r.out.Message(p.topic, 0, p.time, buf)
}
