package skifftest

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
)

// calling itself so, as a controller does.
func calling(t testing.TB, cluster *Cluster, name string) *kubernetes.Clientset {
	t.Helper()
	config := rest.CopyConfig(cluster.Config)
	config.UserAgent = name + "/v1"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// An informer of client-go ends with the objects there are, though its watches break, expire and are refused.
func TestAnInformerGetsOverFaults(t *testing.T) {
	t.Parallel()
	cluster := server.Fork(t)
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	must[FaultStatus](t)(cluster.Faults.SetSeeded(7,
		"watch drop first 1 by informer", "watch expire first 2 by informer", "refuse 500 first 1 on watch by informer"))
	factory := informers.NewSharedInformerFactoryWithOptions(calling(t, cluster, "informer"), 0, informers.WithNamespace("default"))
	lister := factory.Core().V1().ConfigMaps().Lister()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())

	writer := calling(t, cluster, "writer").CoreV1().ConfigMaps("default")
	for i := range 20 {
		name := fmt.Sprintf("m%d", i)
		made := must[*corev1.ConfigMap](t)(writer.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}))
		made.Data = map[string]string{"i": name}
		must[*corev1.ConfigMap](t)(writer.Update(ctx, made, metav1.UpdateOptions{}))
		if i%4 == 0 {
			if err := writer.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := map[string]string{}
	for _, item := range must[*corev1.ConfigMapList](t)(writer.List(ctx, metav1.ListOptions{})).Items {
		want[item.Name] = item.ResourceVersion
	}
	for {
		have := map[string]string{}
		for _, item := range must[[]*corev1.ConfigMap](t)(lister.List(labels.Everything())) {
			have[item.Name] = item.ResourceVersion
		}
		if maps.Equal(have, want) {
			break
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the informer has %v, and there is %v", have, want)
		case <-time.After(20 * time.Millisecond):
		}
	}
	status := must[FaultStatus](t)(cluster.Faults.Status())
	if status.Seed != 7 || len(status.Faults) != 3 {
		t.Fatalf("told %+v", status)
	}
	for _, fault := range status.Faults {
		if fault.Struck == 0 {
			t.Errorf("%s has not struck: %+v", fault.Fault, status)
		}
	}
}

// What is right retries a conflict, and looks before it makes a thing again whose answer was lost.
func TestWritesMeetFaults(t *testing.T) {
	t.Parallel()
	cluster := server.Fork(t)
	ctx, client := context.Background(), calling(t, cluster, "operator").CoreV1().ConfigMaps("default")
	must[FaultStatus](t)(cluster.Faults.Set("cut after first 1 on create", "refuse 409 first 2 on update by operator"))
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	_, err := client.Create(ctx, object, metav1.CreateOptions{})
	if err == nil || apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
		t.Fatalf("create gave %v", err)
	}
	if _, err = client.Create(ctx, object, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Fatalf("the second create gave %v", err)
	}
	got := must[*corev1.ConfigMap](t)(client.Get(ctx, "a", metav1.GetOptions{}))
	if _, err = client.Update(ctx, got, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Fatalf("update gave %v", err)
	}
	if err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		_, err := client.Update(ctx, got, metav1.UpdateOptions{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	text := must[string](t)(cluster.Report())
	if !strings.Contains(text, "refuse 409 first 2 on update by operator: operator update configmaps default/a, number 2") {
		t.Fatalf("the report says nothing of the faults: %s", text)
	}
	if _, err := cluster.Faults.Add("watch lose 5%"); err == nil || !strings.Contains(err.Error(), "is none of drop, expire, reorder, delay") {
		t.Fatalf("a fault that is none gave %v", err)
	}
	if status := must[FaultStatus](t)(cluster.Faults.Clear()); len(status.Faults) != 0 {
		t.Fatalf("left are %+v", status)
	}
}

// The same seed and the same requests: the same faults, and the same names.
func TestTheSeedBringsTheSameAgain(t *testing.T) {
	t.Parallel()
	told := make([]string, 3)
	for i, seed := range []uint64{7, 7, 8} {
		cluster := server.Fork(t)
		must[FaultStatus](t)(cluster.Faults.SetSeeded(seed, "refuse 500 40%", "cut before 20% on get"))
		client := calling(t, cluster, "same").CoreV1().ConfigMaps("default")
		for range 40 {
			_, err := client.Get(context.Background(), "none", metav1.GetOptions{})
			told[i] += fmt.Sprint(apierrors.ReasonForError(err), apierrors.IsNotFound(err), "\n")
		}
	}
	if told[0] != told[1] || reflect.DeepEqual(told[0], told[2]) {
		t.Fatalf("told %q", told)
	}
}
