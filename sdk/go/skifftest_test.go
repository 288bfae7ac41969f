package skifftest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

var server *Cluster

func TestMain(m *testing.M) {
	if os.Getenv("SKIFFTEST_CHILD") != "" {
		// Killed by its parent, with skiff running.
		cluster, _, err := StartMain()
		if err != nil {
			panic(err)
		}
		fmt.Println(cluster.server.command.Process.Pid)
		select {}
	}
	var stop func()
	var err error
	server, stop, err = StartMain(Options{ManualClock: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	stop()
	os.Exit(code)
}

func clientOf(t testing.TB, cluster *Cluster) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func containers() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// What controller-runtime's issue 3083 asks of envtest: an owner is deleted and its dependents go; a namespace ends.
func TestOwnersDependentsAndNamespacesEnd(t *testing.T) {
	t.Parallel()
	cluster := server.Fork(t)
	client, ctx := clientOf(t, cluster), context.Background()
	labels := map[string]string{"app": "web"}
	replicas := int32(3)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: containers()},
		},
	}
	must[*appsv1.Deployment](t)(client.AppsV1().Deployments("default").Create(ctx, deployment, metav1.CreateOptions{}))
	must[time.Time](t)(cluster.Clock.RunUntilIdle(time.Hour))
	live := must[*appsv1.Deployment](t)(client.AppsV1().Deployments("default").Get(ctx, "web", metav1.GetOptions{}))
	if live.Status.ReadyReplicas != 3 {
		t.Fatalf("%d replicas are ready", live.Status.ReadyReplicas)
	}
	if err := client.AppsV1().Deployments("default").Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "short"}}
	must[*corev1.Namespace](t)(client.CoreV1().Namespaces().Create(ctx, space, metav1.CreateOptions{}))
	if err := client.CoreV1().Namespaces().Delete(ctx, "short", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	must[time.Time](t)(cluster.Clock.Advance(time.Minute))
	pods := must[*corev1.PodList](t)(client.CoreV1().Pods("").List(ctx, metav1.ListOptions{}))
	if len(pods.Items) != 0 {
		t.Errorf("%d pods are left", len(pods.Items))
	}
	if _, err := client.CoreV1().Namespaces().Get(ctx, "short", metav1.GetOptions{}); err == nil {
		t.Error("the namespace is left")
	}
}

func TestForksDoNotSeeOneAnother(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	one, other := clientOf(t, server.Fork(t)), clientOf(t, server.Fork(t))
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}
	must[*corev1.ConfigMap](t)(one.CoreV1().ConfigMaps("default").Create(ctx, object, metav1.CreateOptions{}))
	if _, err := other.CoreV1().ConfigMaps("default").Get(ctx, "mine", metav1.GetOptions{}); err == nil {
		t.Error("one fork's object is in the other")
	}
}

func TestTimeIsMoved(t *testing.T) {
	t.Parallel()
	clock := server.Fork(t).Clock
	before := must[time.Time](t)(clock.Now())
	after := must[time.Time](t)(clock.Advance(time.Hour))
	if passed := after.Sub(before); passed < time.Hour || passed > time.Hour+time.Second {
		t.Errorf("%s have passed", passed)
	}
	if _, err := clock.AdvanceTo(before); err == nil {
		t.Error("time went back")
	}
}

type failing struct {
	testing.TB
	logged strings.Builder
}

func (f *failing) Failed() bool                    { return true }
func (f *failing) Logf(format string, args ...any) { fmt.Fprintf(&f.logged, format, args...) }

func TestAFailedTestTellsWhatHappened(t *testing.T) {
	t.Parallel()
	cluster := server.Fork(t)
	client, ctx := clientOf(t, cluster), context.Background()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "sad"}, Spec: containers()}
	must[*corev1.Pod](t)(client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{}))
	must[time.Time](t)(cluster.Clock.Advance(time.Second))
	told := &failing{TB: t}
	cluster.tell(told)
	for _, words := range []string{"Pod default/sad; Running", "Normal Scheduled Pod default/sad", "POST /api/v1/namespaces/default/pods 201"} {
		if !strings.Contains(told.logged.String(), words) {
			t.Errorf("%q is not told:\n%s", words, &told.logged)
		}
	}
}

func TestWhatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	_, _, err := StartMain(Options{CRDs: []string{"missing.yaml"}})
	if err == nil || !strings.Contains(err.Error(), "missing.yaml") {
		t.Errorf("it says %v", err)
	}
}

// Not parallel: the environment and the working directory are the process's.
func TestWithoutSkiffItEndsAtOnceAndAsksNoRegistry(t *testing.T) {
	within := nowhere(t)
	if _, _, err := StartMain(); err == nil || !strings.Contains(err.Error(), "skiff is not found: set SKIFF_BIN") {
		t.Errorf("it says %v", err)
	}
	if _, err := os.Stat(filepath.Join(within, "asked")); err == nil {
		t.Error("npx was run")
	}
}

func TestSkiffOfTheNpmProjectAboveIsFound(t *testing.T) {
	within := nowhere(t)
	bin := filepath.Join(within, "node_modules", ".bin")
	must[any](t)(nil, os.MkdirAll(bin, 0o755))
	must[any](t)(nil, os.WriteFile(filepath.Join(bin, "skiff"), []byte("#!/bin/sh\necho \"the project's\" >&2\n"), 0o755))
	if _, _, err := StartMain(); err == nil || !strings.Contains(err.Error(), "the project's") {
		t.Errorf("it says %v", err)
	}
}

// nowhere is a folder with an npx on PATH, which tells that it was run by a file. The test works in a folder below it.
func nowhere(t *testing.T) string {
	within := t.TempDir()
	npx := "#!/bin/sh\n: >" + filepath.Join(within, "asked") + "\n"
	must[any](t)(nil, os.WriteFile(filepath.Join(within, "npx"), []byte(npx), 0o755))
	below := filepath.Join(within, "a", "b")
	must[any](t)(nil, os.MkdirAll(below, 0o755))
	t.Setenv("SKIFF_BIN", "")
	t.Setenv("PATH", within)
	t.Chdir(below)
	return within
}

func TestNothingIsLeftWhenTheTestsAreKilled(t *testing.T) {
	t.Parallel()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "SKIFFTEST_CHILD=1")
	output := must[io.ReadCloser](t)(child.StdoutPipe())
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line := must[string](t)(bufio.NewReader(output).ReadString('\n'))
	_ = child.Process.Kill()
	_ = child.Wait()
	process := "/proc/" + strings.TrimSpace(line)
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(process); os.IsNotExist(err) {
			return
		}
	}
	t.Error("skiff is left")
}
