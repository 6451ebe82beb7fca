package jupyter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
)

// A Kernel is a running GoNB process and the client connected to it. It is
// used by one goroutine at a time.
type Kernel struct {
	session session
	tmp     string // everything that the kernel and its cells put in $TMPDIR
	process *Process
	log     *tail
	sockets []zmq4.Socket
	shell   zmq4.Socket
	stdin   zmq4.Socket
	inbox   chan incoming
	cancel  context.CancelFunc // ends the sockets
	close   sync.Once
}

// incoming is a message and the channel it came from.
type incoming struct {
	channel string // "shell", "iopub" or "stdin"
	message message
	err     error
}

// startTimeout is generous: on a busy machine with an empty cache the kernel
// still answers within a few seconds.
const startTimeout = 60 * time.Second

// StartKernel starts the GoNB of t in a directory, as Jupyter does for a
// notebook in it, and waits until it answers. The kernel must be closed.
func StartKernel(ctx context.Context, t *Toolchain, dir string) (*Kernel, error) {
	var err error
	// The ports are free when they are chosen and can be taken a moment later
	// by somebody else; the kernel then exits at once.
	for range 3 {
		var k *Kernel
		if k, err = startKernel(ctx, t, dir); err == nil {
			return k, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return nil, err
}

func startKernel(ctx context.Context, t *Toolchain, dir string) (_ *Kernel, err error) {
	tmp, err := os.MkdirTemp("", "lessons-")
	if err != nil {
		return nil, err
	}
	// The directory of a temporary file can be a link (macOS); GoNB resolves it.
	if real, err := filepath.EvalSymlinks(tmp); err == nil {
		tmp = real
	}
	life, cancel := context.WithCancel(context.Background())
	k := &Kernel{
		session: newSession(), tmp: tmp, log: new(tail),
		inbox: make(chan incoming, 64), cancel: cancel,
	}
	defer func() {
		if err != nil {
			k.Close()
		}
	}()
	ports, err := freePorts(5)
	if err != nil {
		return nil, err
	}
	connection := filepath.Join(tmp, "kernel-"+strings.ToLower(k.session.id)+".json")
	info, err := json.Marshal(map[string]any{
		"transport": "tcp", "ip": "127.0.0.1", "key": string(k.session.key), "signature_scheme": "hmac-sha256",
		"shell_port": ports[0], "iopub_port": ports[1], "stdin_port": ports[2], "control_port": ports[3], "hb_port": ports[4],
	})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(connection, info, 0o600); err != nil {
		return nil, err
	}

	cmd := exec.Command(t.GoNB, "--kernel", connection)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), t.env()...)
	cmd.Env = append(cmd.Env, "TMPDIR="+tmp, "PWD="+dir)
	cmd.Stdout, cmd.Stderr = k.log, k.log
	if k.process, err = StartProcess(cmd); err != nil {
		return nil, fmt.Errorf("starting GoNB: %w", err)
	}
	ctx, stop := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("GoNB does not answer after %v", startTimeout))
	defer stop()
	if err := k.connect(ctx, life, ports); err != nil {
		return nil, err
	}
	return k, nil
}

// connect opens the channels and waits until the kernel answers on all of them.
func (k *Kernel) connect(ctx, life context.Context, ports []int) error {
	identity := zmq4.WithID(zmq4.SocketIdentity(k.session.id))
	quiet := zmq4.WithLogger(log.New(io.Discard, "", 0))
	k.shell = zmq4.NewDealer(life, identity, quiet)
	iopub := zmq4.NewSub(life, quiet)
	k.stdin = zmq4.NewDealer(life, identity, quiet)
	k.sockets = []zmq4.Socket{k.shell, iopub, k.stdin}
	for i, s := range k.sockets {
		address := fmt.Sprintf("127.0.0.1:%d", ports[i])
		if err := k.waitFor(ctx, address); err != nil {
			return err
		}
		if err := s.Dial("tcp://" + address); err != nil {
			return fmt.Errorf("connecting to GoNB: %w", err)
		}
	}
	if err := iopub.SetOption(zmq4.OptionSubscribe, ""); err != nil {
		return fmt.Errorf("subscribing to GoNB's outputs: %w", err)
	}
	for i, channel := range []string{"shell", "iopub", "stdin"} {
		go k.receive(life, k.sockets[i], channel)
	}
	// A subscription takes effect some time after it was made: ask until an
	// answer is heard on both channels.
	var onShell, onIOPub bool
	for !onShell || !onIOPub {
		if _, err := k.send(k.shell, "kernel_info_request", struct{}{}); err != nil {
			return err
		}
		again := time.After(100 * time.Millisecond)
		for waiting := true; waiting && (!onShell || !onIOPub); {
			select {
			case in := <-k.inbox:
				if in.err != nil {
					return k.broken(in.err)
				}
				onShell = onShell || in.message.Header.Type == "kernel_info_reply"
				onIOPub = onIOPub || in.channel == "iopub"
			case <-again:
				waiting = false
			case <-k.process.Exited:
				return k.died()
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// waitFor waits until the kernel listens on an address.
func (k *Kernel) waitFor(ctx context.Context, address string) error {
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-k.process.Exited:
			return k.died()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (k *Kernel) receive(life context.Context, s zmq4.Socket, channel string) {
	for {
		wire, err := s.Recv()
		in := incoming{channel: channel, err: err}
		if err == nil {
			in.message, in.err = k.session.decode(wire)
		}
		select {
		case k.inbox <- in:
		case <-life.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

func (k *Kernel) send(s zmq4.Socket, msgType string, content any) (id string, err error) {
	m, err := k.session.request(msgType, content)
	if err != nil {
		return "", err
	}
	wire, err := k.session.encode(m)
	if err != nil {
		return "", err
	}
	if err := s.SendMulti(wire); err != nil {
		return "", fmt.Errorf("sending %s to GoNB: %w", msgType, err)
	}
	return m.Header.ID, nil
}

// ErrKernelDied is the error of a kernel process that ended on its own.
var ErrKernelDied = errors.New("the GoNB kernel died")

func (k *Kernel) died() error {
	return fmt.Errorf("%w; its last words:\n%s", ErrKernelDied, k.log)
}

// broken is the error of a channel that failed: most often the kernel's end is
// noticed there first.
func (k *Kernel) broken(err error) error {
	select {
	case <-k.process.Exited:
		return k.died()
	case <-time.After(time.Second):
		return fmt.Errorf("talking to GoNB: %w", err)
	}
}

// Close ends the kernel with everything that it started and removes its
// temporary files. It can be called more than once and from any goroutine.
func (k *Kernel) Close() error {
	var err error
	k.close.Do(func() {
		k.cancel()
		if k.process != nil {
			k.process.Kill()
		}
		for _, s := range k.sockets {
			s.Close()
		}
		// A killed compiler may still be writing its last file.
		for range 20 {
			if err = os.RemoveAll(k.tmp); err == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	return err
}

// freePorts finds n free ports of the loopback interface.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("no free port for the kernel: %w", err)
		}
		defer l.Close() // only now, or the same port comes twice
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// tail keeps the last few kilobytes that were written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - 4096; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.buf))
}
