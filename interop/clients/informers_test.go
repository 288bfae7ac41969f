package clients

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"skiff/interop/shared"
)

// recorder notes what a client asks for.
type recorder struct {
	next     http.RoundTripper
	mutex    sync.Mutex
	requests []string
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.mutex.Lock()
	r.requests = append(r.requests, request.Method+" "+request.URL.RequestURI())
	r.mutex.Unlock()
	return r.next.RoundTrip(request)
}

func (r *recorder) having(parts ...string) (found []string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, request := range r.requests {
		has := true
		for _, part := range parts {
			has = has && strings.Contains(request, part)
		}
		if has {
			found = append(found, request)
		}
	}
	return found
}

// A shared informer gets its first state as a stream (KEP-3157), then every change, and lists nothing.
func TestSharedInformersStreamTheirLists(t *testing.T) {
	for _, contentType := range encodings {
		t.Run(contentType[len("application/"):], func(t *testing.T) {
			ctx := shared.Within(t)
			config := speaking(restConfig(t), contentType)
			asked := &recorder{}
			config.Wrap(func(next http.RoundTripper) http.RoundTripper { asked.next = next; return asked })
			writer := shared.Clientset(t, restConfig(t))
			ns := namespace(t, ctx, writer)
			for i := range 9 {
				object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("first-%02d", i)}}
				must[*corev1.ConfigMap](t)(writer.CoreV1().ConfigMaps(ns).Create(ctx, object, metav1.CreateOptions{}))
			}

			factory := informers.NewSharedInformerFactoryWithOptions(shared.Clientset(t, config), 0, informers.WithNamespace(ns))
			configMaps := factory.Core().V1().ConfigMaps()
			var mutex sync.Mutex
			var deleted []string
			must[cache.ResourceEventHandlerRegistration](t)(configMaps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
				DeleteFunc: func(object any) {
					mutex.Lock()
					defer mutex.Unlock()
					deleted = append(deleted, object.(*corev1.ConfigMap).Name)
				},
			}))
			stopped, stop := context.WithCancel(ctx)
			defer stop()
			factory.Start(stopped.Done())
			for kind, synced := range factory.WaitForCacheSync(stopped.Done()) {
				if !synced {
					t.Fatalf("%v never synced", kind)
				}
			}
			// The root certificate's ConfigMap comes from a controller, at its own time.
			first := must[labels.Requirement](t)(requirement("!kubernetes.io/other"))
			there := must[[]*corev1.ConfigMap](t)(configMaps.Lister().ConfigMaps(ns).List(labels.NewSelector().Add(first)))
			if len(there) < 9 {
				t.Fatalf("%d objects after the sync", len(there))
			}
			if lists := asked.having("GET /api/v1/namespaces/" + ns + "/configmaps"); len(lists) != 1 || !strings.Contains(lists[0], "sendInitialEvents=true") {
				t.Fatalf("not one streamed list: %v", lists)
			}
			if err := writer.CoreV1().ConfigMaps(ns).Delete(ctx, "first-07", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			eventually(t, ctx, "the deletion", func() bool {
				mutex.Lock()
				defer mutex.Unlock()
				return len(deleted) == 1 && deleted[0] == "first-07"
			})
		})
	}
}

func requirement(selector string) (labels.Requirement, error) {
	parsed, err := labels.ParseToRequirements(selector)
	if err != nil {
		return labels.Requirement{}, err
	}
	return parsed[0], nil
}

// Of two candidates one leads; when it gives up, the other does.
func TestLeaderElection(t *testing.T) {
	ctx := shared.Within(t)
	client := shared.Clientset(t, restConfig(t))
	ns := namespace(t, ctx, client)
	leading := make(chan string, 2)
	candidate := func(ctx context.Context, name string) {
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Namespace: ns, Name: "leader"},
				Client:     client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: name},
			},
			ReleaseOnCancel: true,
			LeaseDuration:   3 * time.Second,
			RenewDeadline:   2 * time.Second,
			RetryPeriod:     100 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leading <- name },
				OnStoppedLeading: func() {},
			},
		})
	}
	running, resign := context.WithCancel(ctx)
	go candidate(running, "first")
	if leader := <-leading; leader != "first" {
		t.Fatal(leader)
	}
	go candidate(ctx, "second")
	resign()
	select {
	case leader := <-leading:
		if leader != "second" {
			t.Fatal(leader)
		}
	case <-ctx.Done():
		t.Fatal("nobody took over")
	}
}
