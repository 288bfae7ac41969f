// Package shared holds what the tests of Go clients and of envtest both need.
package shared

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Within gives a context that ends the test long before its runner would.
func Within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// Clientset gives the typed clients of the cluster that the configuration leads to.
func Clientset(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	set, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return set
}
