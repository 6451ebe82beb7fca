package jupyter

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// ErrTimeout is the cause of the error of a cell that did not end in time.
type ErrTimeout struct{ After time.Duration }

func (e ErrTimeout) Error() string {
	return fmt.Sprintf("the cell did not end within %v", e.After)
}

// Execute runs the code of one cell and returns its outputs in the order in
// which they came, updates applied. A failure of the cell is among the outputs,
// see [Failure]; the error is about the kernel, which is of no further use then:
// it died, the context was cancelled or the timeout passed.
func (k *Kernel) Execute(ctx context.Context, code string, timeout time.Duration) ([]Output, error) {
	ctx, stop := context.WithTimeoutCause(ctx, timeout, ErrTimeout{timeout})
	defer stop()
	id, err := k.send(k.shell, "execute_request", map[string]any{
		"code": code, "silent": false, "store_history": true,
		"user_expressions": struct{}{}, "allow_stdin": true, "stop_on_error": true,
	})
	if err != nil {
		return nil, err
	}
	var c collector
	for replied, idle := false, false; !replied || !idle; {
		select {
		case <-ctx.Done():
			return c.outputs, context.Cause(ctx)
		case <-k.process.Exited:
			return c.outputs, k.died()
		case in := <-k.inbox:
			if in.err != nil {
				return c.outputs, k.broken(in.err)
			}
			m := in.message
			switch {
			case in.channel == "stdin":
				if m.Header.Type == "input_request" {
					// Nobody is there to answer; an empty line keeps the cell going.
					// GoNB asks before it listens, so it must not come at once.
					time.Sleep(100 * time.Millisecond)
					if _, err := k.send(k.stdin, "input_reply", map[string]string{"value": "", "status": "ok"}); err != nil {
						return c.outputs, err
					}
				}
			case m.Parent.ID != id:
				// A late answer to an earlier request.
			case in.channel == "shell":
				replied = replied || m.Header.Type == "execute_reply"
			default:
				state, err := c.add(m)
				if err != nil {
					return c.outputs, err
				}
				idle = idle || state == "idle"
			}
		}
	}
	return c.outputs, nil
}

// collector gathers the outputs of a cell from the messages on iopub.
type collector struct {
	outputs []Output
	shown   map[string]int // display id → index of the output it updates
}

// add takes one message; it returns the kernel's state if the message tells it.
// Comm messages are for a browser and are passed over.
func (c *collector) add(m message) (state string, err error) {
	var content struct {
		State     string         `json:"execution_state"`
		Name      string         `json:"name"`
		Text      string         `json:"text"`
		Data      map[string]any `json:"data"`
		Metadata  map[string]any `json:"metadata"`
		Transient struct {
			DisplayID string `json:"display_id"`
		} `json:"transient"`
		EName     string   `json:"ename"`
		EValue    string   `json:"evalue"`
		Traceback []string `json:"traceback"`
	}
	switch m.Header.Type {
	case "status", "stream", "display_data", "update_display_data", "execute_result", "error":
		if err := json.Unmarshal(m.Content, &content); err != nil {
			return "", fmt.Errorf("jupyter: %s: %w", m.Header.Type, err)
		}
	}
	switch m.Header.Type {
	case "status":
		return content.State, nil
	case "stream":
		c.outputs = append(c.outputs, Output{Type: Stream, Name: content.Name, Text: content.Text})
	case "display_data", "execute_result", "update_display_data":
		out := Output{Type: Display, Data: orEmpty(content.Data), Metadata: orEmpty(content.Metadata)}
		id := content.Transient.DisplayID
		if i, ok := c.shown[id]; ok && id != "" {
			c.outputs[i] = out
			return "", nil
		}
		if id != "" {
			if c.shown == nil {
				c.shown = make(map[string]int)
			}
			c.shown[id] = len(c.outputs)
		}
		c.outputs = append(c.outputs, out)
	case "error":
		c.outputs = append(c.outputs, Output{Type: Error, EName: content.EName, EValue: content.EValue, Traceback: content.Traceback})
	}
	return "", nil
}
