// Package streams runs sessions with a pod of real containers by client-go: commands by SPDY and by WebSocket, a terminal, ports by both, and
// logs. KUBECONFIG names the cluster. The pod is `p` in the namespace default: its container has busybox, prints a line, and answers HTTP on
// port 8080.
package streams

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/util/exec"
)

const (
	pod       = "p"
	container = "c"
	// More than any window of flow control.
	large = 8 << 20
)

type side struct {
	config *rest.Config
	client *kubernetes.Clientset
}

func connect(t *testing.T) side {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return side{config, client}
}

func (s side) url(subresource string, options *corev1.PodExecOptions) *url.URL {
	request := s.client.CoreV1().RESTClient().Post().Resource("pods").Namespace("default").Name(pod).SubResource(subresource)
	if options != nil {
		request = request.VersionedParams(options, scheme.ParameterCodec)
	}
	return request.URL()
}

// executors are the ways in which client-go runs a command.
var executors = map[string]func(*rest.Config, *url.URL) (remotecommand.Executor, error){
	"SPDY": func(config *rest.Config, at *url.URL) (remotecommand.Executor, error) {
		return remotecommand.NewSPDYExecutor(config, "POST", at)
	},
	"WebSocket": func(config *rest.Config, at *url.URL) (remotecommand.Executor, error) {
		return remotecommand.NewWebSocketExecutor(config, "GET", at.String())
	},
	"WebSocket else SPDY": func(config *rest.Config, at *url.URL) (remotecommand.Executor, error) {
		first, err := remotecommand.NewWebSocketExecutor(config, "GET", at.String())
		if err != nil {
			return nil, err
		}
		second, err := remotecommand.NewSPDYExecutor(config, "POST", at)
		if err != nil {
			return nil, err
		}
		return remotecommand.NewFallbackExecutor(first, second, func(err error) bool {
			return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
		})
	},
}

func run(t *testing.T, name string, options *corev1.PodExecOptions, streams remotecommand.StreamOptions) error {
	t.Helper()
	s := connect(t)
	executor, err := executors[name](s.config, s.url("exec", options))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	return executor.StreamWithContext(ctx, streams)
}

func sh(script string) []string { return []string{"/bin/busybox", "sh", "-c", script} }

func TestCommandsEndWithTheirCode(t *testing.T) {
	for name := range executors {
		t.Run(name, func(t *testing.T) {
			var out, err bytes.Buffer
			options := &corev1.PodExecOptions{Container: container, Command: sh("echo out; echo err >&2; exit 7"), Stdout: true, Stderr: true}
			ended := run(t, name, options, remotecommand.StreamOptions{Stdout: &out, Stderr: &err})
			var code exec.CodeExitError
			if !errors.As(ended, &code) || code.Code != 7 {
				t.Fatalf("ended with %v", ended)
			}
			if out.String() != "out\n" || err.String() != "err\n" {
				t.Fatalf("printed %q and %q", out.String(), err.String())
			}
		})
	}
}

func TestStandardInputIsWhole(t *testing.T) {
	for name := range executors {
		t.Run(name, func(t *testing.T) {
			sent := bytes.Repeat([]byte("0123456789abcdef"), large/16)
			var out bytes.Buffer
			options := &corev1.PodExecOptions{Container: container, Command: []string{"/bin/busybox", "cat"}, Stdin: true, Stdout: true}
			// That cat ends shows that it was told of the end of its input.
			if err := run(t, name, options, remotecommand.StreamOptions{Stdin: bytes.NewReader(sent), Stdout: &out}); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(out.Bytes(), sent) {
				t.Fatalf("%d of %d bytes came back", out.Len(), len(sent))
			}
		})
	}
}

type sizes chan remotecommand.TerminalSize

func (s sizes) Next() *remotecommand.TerminalSize {
	size, ok := <-s
	if !ok {
		return nil
	}
	return &size
}

func TestTerminalsHaveSizes(t *testing.T) {
	for name := range executors {
		t.Run(name, func(t *testing.T) {
			told := make(sizes, 1)
			told <- remotecommand.TerminalSize{Width: 91, Height: 37}
			defer close(told)
			var out bytes.Buffer
			script := `until [ "$(busybox stty size)" = "37 91" ]; do busybox sleep 0.1; done; busybox stty size`
			options := &corev1.PodExecOptions{Container: container, Command: sh(script), Stdin: true, Stdout: true, TTY: true}
			input, hold := io.Pipe()
			defer hold.Close()
			if err := run(t, name, options, remotecommand.StreamOptions{Stdin: input, Stdout: &out, Tty: true, TerminalSizeQueue: told}); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), "37 91") {
				t.Fatalf("printed %q", out.String())
			}
		})
	}
}

func TestWhatIsMissingIsTold(t *testing.T) {
	for name := range executors {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			options := &corev1.PodExecOptions{Container: container, Command: []string{"/no/such"}, Stdout: true}
			if err := run(t, name, options, remotecommand.StreamOptions{Stdout: &out}); err == nil || !strings.Contains(err.Error(), "/no/such") {
				t.Fatalf("ended with %v", err)
			}
			options = &corev1.PodExecOptions{Container: "none", Command: sh("exit 0"), Stdout: true}
			if err := run(t, name, options, remotecommand.StreamOptions{Stdout: &out}); err == nil || !strings.Contains(err.Error(), "none") {
				t.Fatalf("ended with %v", err)
			}
		})
	}
}

// dialers are the ways in which client-go reaches ports.
var dialers = map[string]func(side) (httpstream.Dialer, error){
	"SPDY": func(s side) (httpstream.Dialer, error) {
		transport, upgrader, err := spdy.RoundTripperFor(s.config)
		if err != nil {
			return nil, err
		}
		return spdy.NewDialer(upgrader, &http.Client{Transport: transport}, "POST", s.url("portforward", nil)), nil
	},
	"WebSocket": func(s side) (httpstream.Dialer, error) {
		return portforward.NewSPDYOverWebsocketDialer(s.url("portforward", nil), s.config)
	},
}

func TestPortsAreForwarded(t *testing.T) {
	for name, dialer := range dialers {
		t.Run(name, func(t *testing.T) {
			dial, err := dialer(connect(t))
			if err != nil {
				t.Fatal(err)
			}
			stop, ready, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
			forwarder, err := portforward.New(dial, []string{"0:8080"}, stop, ready, io.Discard, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			go func() { ended <- forwarder.ForwardPorts() }()
			select {
			case <-ready:
			case err := <-ended:
				t.Fatal(err)
			case <-time.After(60 * time.Second):
				t.Fatal("never ready")
			}
			ports, err := forwarder.GetPorts()
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				answer, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/index.html", ports[0].Local))
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(answer.Body)
				_ = answer.Body.Close()
				if string(body) != "hi\n" {
					t.Fatalf("answered %q", body)
				}
			}
			close(stop)
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestLogsAreFollowed(t *testing.T) {
	s := connect(t)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	stream, err := s.client.CoreV1().Pods("default").GetLogs(pod, &corev1.PodLogOptions{Container: container, Follow: true}).Stream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	first := make([]byte, len("ready\n"))
	if _, err := io.ReadFull(stream, first); err != nil || string(first) != "ready\n" {
		t.Fatalf("read %q: %v", first, err)
	}
}
