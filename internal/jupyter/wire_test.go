package jupyter

import (
	"strings"
	"testing"

	"github.com/go-zeromq/zmq4"
)

func TestMessagesAreSigned(t *testing.T) {
	s := newSession()
	m, err := s.request("execute_request", map[string]string{"code": "x := 1"})
	if err != nil {
		t.Fatal(err)
	}
	m.Parent.ID = "parent"
	wire, err := s.encode(m)
	if err != nil {
		t.Fatal(err)
	}
	frames := wire.Frames
	routed := zmq4.NewMsgFrom(append([][]byte{[]byte("identity")}, frames...)...)
	got, err := s.decode(routed)
	if err != nil {
		t.Fatal(err)
	}
	if got.Header != m.Header || got.Parent.ID != "parent" || string(got.Content) != `{"code":"x := 1"}` {
		t.Errorf("%+v became %+v", m, got)
	}

	other := newSession()
	if _, err := other.decode(wire); err == nil || !strings.Contains(err.Error(), "signature") {
		t.Errorf("another key: %v", err)
	}
	for i := 2; i < len(frames); i++ {
		kept := frames[i]
		frames[i] = append([]byte(" "), kept...)
		if _, err := s.decode(zmq4.NewMsgFrom(frames...)); err == nil || !strings.Contains(err.Error(), "signature") {
			t.Errorf("frame %d changed: %v", i, err)
		}
		frames[i] = kept
	}
	for n := range frames {
		if _, err := s.decode(zmq4.NewMsgFrom(frames[:n]...)); err == nil {
			t.Errorf("%d frames of %d were accepted", n, len(frames))
		}
	}
}
