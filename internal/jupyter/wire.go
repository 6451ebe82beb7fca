package jupyter

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-zeromq/zmq4"
)

// header is the header of a Jupyter message.
type header struct {
	ID       string `json:"msg_id"`
	Session  string `json:"session"`
	Username string `json:"username"`
	Date     string `json:"date"`
	Type     string `json:"msg_type"`
	Version  string `json:"version"`
}

// message is a Jupyter message; the content is left to whoever knows its type.
type message struct {
	Header  header
	Parent  header
	Content json.RawMessage
}

// delimiter separates the routing frames from the signature and the message.
var delimiter = []byte("<IDS|MSG>")

// session signs and checks the messages of one client.
type session struct {
	id  string
	key []byte
}

func newSession() session {
	return session{id: rand.Text(), key: []byte(rand.Text())}
}

// request makes a new message.
func (s session) request(msgType string, content any) (message, error) {
	raw, err := json.Marshal(content)
	if err != nil {
		return message{}, err
	}
	return message{
		Header: header{
			ID: rand.Text(), Session: s.id, Username: "lessons", Type: msgType, Version: "5.4",
			Date: time.Now().UTC().Format(time.RFC3339Nano),
		},
		Content: raw,
	}, nil
}

func (s session) sign(frames [][]byte) []byte {
	mac := hmac.New(sha256.New, s.key)
	for _, f := range frames {
		mac.Write(f)
	}
	return []byte(hex.EncodeToString(mac.Sum(nil)))
}

// encode puts a message on the wire: delimiter, signature, header, parent
// header, metadata, content.
func (s session) encode(m message) (zmq4.Msg, error) {
	head, err := json.Marshal(m.Header)
	if err != nil {
		return zmq4.Msg{}, err
	}
	parent := []byte("{}")
	if m.Parent.ID != "" {
		if parent, err = json.Marshal(m.Parent); err != nil {
			return zmq4.Msg{}, err
		}
	}
	frames := [][]byte{head, parent, []byte("{}"), m.Content}
	return zmq4.NewMsgFrom(append([][]byte{delimiter, s.sign(frames)}, frames...)...), nil
}

// decode takes a message from the wire and checks its signature.
func (s session) decode(wire zmq4.Msg) (message, error) {
	frames := wire.Frames
	for len(frames) > 0 && !bytes.Equal(frames[0], delimiter) {
		frames = frames[1:]
	}
	if len(frames) < 6 {
		return message{}, fmt.Errorf("jupyter: message of %d frames, want at least 6 from the delimiter on", len(frames))
	}
	signature, frames := frames[1], frames[2:]
	if !hmac.Equal(signature, s.sign(frames[:4])) {
		return message{}, errors.New("jupyter: message with a wrong signature")
	}
	var m message
	if err := json.Unmarshal(frames[0], &m.Header); err != nil {
		return message{}, fmt.Errorf("jupyter: message header: %w", err)
	}
	if err := json.Unmarshal(frames[1], &m.Parent); err != nil {
		return message{}, fmt.Errorf("jupyter: parent header: %w", err)
	}
	m.Content = frames[3]
	return m, nil
}
