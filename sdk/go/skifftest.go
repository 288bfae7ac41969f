// Package skifftest gives Go tests a real Kubernetes API with its controllers and simulated nodes: one process of skiff for a run of
// tests, and a fork of its cluster for each test. The protocol is that of `skiff test-server`.
package skifftest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Options say what the cluster is, and what it begins with. Durations and times are the cluster's.
type Options struct {
	// ManualClock lets time stand still until Clock moves it.
	ManualClock bool
	// Nodes is the number of simulated nodes. Default 1; negative: none.
	Nodes int
	// Components are those of skiff up --components. Default: all.
	Components string
	// CRDs and Objects are files and folders of manifests.
	CRDs, Objects []string
	// Snapshot is a file of skiff snapshot save.
	Snapshot string
	// Faults are there from the beginning, for every fork; others are set by Cluster.Faults.
	Faults []string
	// Seed decides which requests faults strike, and the suffixes of generated names. Default: another one each time.
	Seed uint64
}

const (
	startPatience = time.Minute
	endPatience   = 10 * time.Second
)

// Cluster is one cluster: that of the server, or a fork.
type Cluster struct {
	Name string
	// URL is where its API server serves.
	URL string
	// Kubeconfig is a file, its administrator's.
	Kubeconfig string
	// Config is the same for client-go. It is not rate limited.
	Config *rest.Config
	Clock  Clock
	Faults Faults

	server *process
}

// Start starts skiff and a cluster, which end with the test. When the test fails, what happened in the cluster is logged.
func Start(t testing.TB, options ...Options) *Cluster {
	t.Helper()
	cluster, stop, err := StartMain(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cluster.tell(t)
		stop()
	})
	return cluster
}

// StartMain is Start for TestMain: the caller stops it. It ends with this process in any case.
func StartMain(options ...Options) (cluster *Cluster, stop func(), err error) {
	var chosen Options
	if len(options) > 1 {
		return nil, nil, errors.New("skifftest: one Options at most")
	}
	if len(options) == 1 {
		chosen = options[0]
	}
	server, told, err := begin(chosen)
	if err != nil {
		return nil, nil, err
	}
	cluster, err = server.cluster(told)
	if err != nil {
		server.stop()
		return nil, nil, err
	}
	return cluster, server.stop, nil
}

// Fork gives the test a cluster of its own with the same objects, which ends with the test. When the test fails, what happened in it
// is logged.
func (c *Cluster) Fork(t testing.TB) *Cluster {
	t.Helper()
	told, err := c.server.call("fork", map[string]any{"name": c.Name})
	if err != nil {
		t.Fatal(err)
	}
	fork, err := c.server.cluster(told)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		fork.tell(t)
		if _, err := c.server.call("end", map[string]any{"name": fork.Name}); err != nil {
			t.Logf("skiff: %v", err)
		}
	})
	return fork
}

// Report tells the objects that have changed since the fork, their Events, and the last 50 requests.
func (c *Cluster) Report() (string, error) {
	told, err := c.server.call("report", map[string]any{"name": c.Name})
	return told.Text, err
}

func (c *Cluster) tell(t testing.TB) {
	if !t.Failed() {
		return
	}
	text, err := c.Report()
	if err != nil {
		t.Logf("skiff: there is no report: %v", err)
		return
	}
	t.Logf("skiff %s\n%s", c.Name, text)
}

// Clock moves the time of a cluster that was started with ManualClock. All that happens in that time has happened when a method
// returns; each gives the time then.
type Clock struct{ cluster *Cluster }

func (c Clock) Now() (time.Time, error) { return c.move("now", nil) }

func (c Clock) Advance(by time.Duration) (time.Time, error) {
	return c.move("advance", map[string]any{"duration": by.String()})
}

func (c Clock) AdvanceTo(to time.Time) (time.Time, error) {
	return c.move("advanceTo", map[string]any{"time": to.UTC().Format(time.RFC3339Nano)})
}

// RunUntilIdle goes on until nothing waits any more but heartbeats and the like.
func (c Clock) RunUntilIdle(atMost time.Duration) (time.Time, error) {
	return c.move("runUntilIdle", map[string]any{"atMost": atMost.String()})
}

func (c Clock) move(method string, params map[string]any) (time.Time, error) {
	given := map[string]any{"name": c.cluster.Name}
	for name, value := range params {
		given[name] = value
	}
	told, err := c.cluster.server.call(method, given)
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339Nano, told.Time)
}

// result is all that an answer may hold.
type result struct {
	Name, URL, Kubeconfig, Time, Text string
	FaultStatus
}

type process struct {
	command *exec.Cmd
	input   io.WriteCloser
	said    *tail
	ended   chan struct{}

	mu      sync.Mutex
	next    int
	waiting map[int]chan answer
}

type answer struct {
	result result
	err    error
}

func commandLine() ([]string, error) {
	if bin := os.Getenv("SKIFF_BIN"); bin != "" {
		return []string{bin}, nil
	}
	if path, err := exec.LookPath("skiff"); err == nil {
		return []string{path}, nil
	}
	if path := inProject(); path != "" {
		return []string{path}, nil
	}
	return nil, errors.New("skiff is not found: set SKIFF_BIN to its executable, put it on PATH, or install it in the npm project that the tests run in")
}

// inProject finds skiff in the npm project that the working directory is in. npx is not asked: it asks npm's registry, which has another
// package of that name.
func inProject() string {
	folder, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		if path, err := exec.LookPath(filepath.Join(folder, "node_modules", ".bin", "skiff")); err == nil {
			return path
		}
		above := filepath.Dir(folder)
		if above == folder {
			return ""
		}
		folder = above
	}
}

func (o Options) arguments() []string {
	clock := "real"
	if o.ManualClock {
		clock = "manual"
	}
	nodes := o.Nodes
	if nodes == 0 {
		nodes = 1
	} else if nodes < 0 {
		nodes = 0
	}
	arguments := []string{"test-server", "--clock", clock, "--nodes", strconv.Itoa(nodes)}
	if o.Components != "" {
		arguments = append(arguments, "--components", o.Components)
	}
	for _, path := range o.CRDs {
		arguments = append(arguments, "--crds", path)
	}
	for _, path := range o.Objects {
		arguments = append(arguments, "--objects", path)
	}
	if o.Snapshot != "" {
		arguments = append(arguments, "--from", o.Snapshot)
	}
	for _, fault := range o.Faults {
		arguments = append(arguments, "--fault", fault)
	}
	if o.Seed != 0 {
		arguments = append(arguments, "--seed", strconv.FormatUint(o.Seed, 10))
	}
	return arguments
}

func begin(options Options) (*process, result, error) {
	line, err := commandLine()
	if err != nil {
		return nil, result{}, err
	}
	s := &process{said: &tail{}, ended: make(chan struct{}), waiting: map[int]chan answer{}}
	s.command = exec.Command(line[0], append(line[1:], options.arguments()...)...)
	s.command.Stderr = s.said
	// SKIFF_BIN may be a script whose child holds the pipe after it.
	s.command.WaitDelay = endPatience
	output, err := s.command.StdoutPipe()
	if err != nil {
		return nil, result{}, err
	}
	if s.input, err = s.command.StdinPipe(); err != nil {
		return nil, result{}, err
	}
	if err := s.command.Start(); err != nil {
		return nil, result{}, fmt.Errorf("skiff cannot be started: %w", err)
	}
	ready := make(chan result, 1)
	go s.listen(output, ready)
	select {
	case told := <-ready:
		return s, told, nil
	case <-s.ended:
		return nil, result{}, s.gone()
	case <-time.After(startPatience):
		s.stop()
		return nil, result{}, fmt.Errorf("skiff was not ready within %s: %s", startPatience, s.said)
	}
}

func (s *process) listen(output io.Reader, ready chan<- result) {
	reader := bufio.NewReader(output)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			break
		}
		var told struct {
			ID     int     `json:"id"`
			Ready  *result `json:"ready"`
			Result result  `json:"result"`
			Error  string  `json:"error"`
		}
		if json.Unmarshal(line, &told) != nil {
			continue
		}
		if told.Ready != nil {
			ready <- *told.Ready
			continue
		}
		given := answer{result: told.Result}
		if told.Error != "" {
			given = answer{err: errors.New(told.Error)}
		}
		s.mu.Lock()
		waiting := s.waiting[told.ID]
		delete(s.waiting, told.ID)
		s.mu.Unlock()
		if waiting != nil {
			waiting <- given
		}
	}
	_ = s.command.Wait()
	close(s.ended)
}

func (s *process) call(method string, params map[string]any) (result, error) {
	waiting := make(chan answer, 1)
	s.mu.Lock()
	s.next++
	id := s.next
	s.waiting[id] = waiting
	line, err := json.Marshal(map[string]any{"id": id, "method": method, "params": params})
	if err == nil {
		_, err = s.input.Write(append(line, '\n'))
	}
	s.mu.Unlock()
	if err != nil {
		return result{}, s.gone()
	}
	select {
	case given := <-waiting:
		return given.result, given.err
	case <-s.ended:
		return result{}, s.gone()
	}
}

func (s *process) gone() error { return fmt.Errorf("skiff has ended: %s", s.said) }

func (s *process) stop() {
	_ = s.input.Close()
	select {
	case <-s.ended:
	case <-time.After(endPatience):
		_ = s.command.Process.Kill()
		<-s.ended
	}
}

func (s *process) cluster(told result) (*Cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", told.Kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	c := &Cluster{Name: told.Name, URL: told.URL, Kubeconfig: told.Kubeconfig, Config: config, server: s}
	c.Clock = Clock{cluster: c}
	c.Faults = Faults{cluster: c}
	return c, nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

const mostKept = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept.Write(p)
	if over := t.kept.Len() - mostKept; over > 0 {
		t.kept.Next(over)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.kept.Bytes()))
}
