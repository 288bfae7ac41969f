// Package clients drives a skiff cluster with the Go clients that operators are built with, in their default
// configuration. The cluster is the one KUBECONFIG names; it runs the API server, the controllers and the scheduler.
package clients

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const protobuf = "application/vnd.kubernetes.protobuf"

// encodings are the ways a typed client may be set up to speak: JSON, and protobuf as Kubernetes' own components do.
var encodings = []string{"application/json", protobuf}

func restConfig(t *testing.T) *rest.Config {
	t.Helper()
	path := os.Getenv("KUBECONFIG")
	if path == "" {
		t.Fatal("KUBECONFIG names no cluster")
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func speaking(config *rest.Config, contentType string) *rest.Config {
	config = rest.CopyConfig(config)
	config.ContentType = contentType
	config.AcceptContentTypes = contentType + ",application/json"
	return config
}

// namespace makes one for the test, removed at its end.
func namespace(t *testing.T, ctx context.Context, client kubernetes.Interface) string {
	t.Helper()
	name := "go-" + strings.ToLower(strings.NewReplacer("/", "-", "_", "-", ".", "-").Replace(t.Name()))
	made, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: name},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.CoreV1().Namespaces().Delete(context.Background(), made.Name, metav1.DeleteOptions{})
	})
	return made.Name
}

// eventually waits until the condition holds; the watch or the server, not a clock, is what makes it so.
func eventually(t *testing.T, ctx context.Context, what string, condition func() bool) {
	t.Helper()
	for !condition() {
		select {
		case <-ctx.Done():
			t.Fatalf("never seen: %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
