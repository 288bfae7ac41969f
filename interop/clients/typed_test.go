package clients

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/retry"

	"skiff/interop/shared"
)

func deployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name:  "main",
					Image: "example.com/app:1",
					Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
						corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("16Mi"),
					}},
				}}},
			},
		},
	}
}

// A typed client sees the same objects whatever it speaks, and errors keep their reasons.
func TestTypedClient(t *testing.T) {
	for _, contentType := range encodings {
		t.Run(contentType[len("application/"):], func(t *testing.T) {
			ctx := shared.Within(t)
			client := shared.Clientset(t, speaking(restConfig(t), contentType))
			ns := namespace(t, ctx, client)
			deployments := client.AppsV1().Deployments(ns)

			made := must[*appsv1.Deployment](t)(deployments.Create(ctx, deployment("web", 2), metav1.CreateOptions{}))
			if made.UID == "" || made.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
				t.Fatalf("not as created and defaulted: %+v", made)
			}
			read := must[*appsv1.Deployment](t)(
				shared.Clientset(t, restConfig(t)).AppsV1().Deployments(ns).Get(ctx, "web", metav1.GetOptions{ResourceVersion: "0"}))
			if read.UID != made.UID || !equality.Semantic.DeepEqual(read.Spec, made.Spec) {
				t.Fatalf("%s and JSON differ:\n%+v\n%+v", contentType, made.Spec, read.Spec)
			}
			_, err := deployments.Create(ctx, deployment("web", 2), metav1.CreateOptions{})
			if !apierrors.IsAlreadyExists(err) {
				t.Fatalf("created twice: %v", err)
			}
			broken := deployment("broken", 1)
			broken.Spec.Selector.MatchLabels = map[string]string{"other": "label"}
			_, err = deployments.Create(ctx, broken, metav1.CreateOptions{})
			if !apierrors.IsInvalid(err) || len(err.(apierrors.APIStatus).Status().Details.Causes) == 0 {
				t.Fatalf("an invalid object was not refused with causes: %v", err)
			}

			err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
				current, err := deployments.Get(ctx, "web", metav1.GetOptions{})
				if err != nil {
					return err
				}
				current.Spec.Template.Spec.Containers[0].Image = "example.com/app:2"
				_, err = deployments.Update(ctx, current, metav1.UpdateOptions{})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			made.Annotations = map[string]string{"too": "late"}
			if _, err = deployments.Update(ctx, made, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
				t.Fatalf("an update of an old version was not refused: %v", err)
			}
			patched := must[*appsv1.Deployment](t)(deployments.Patch(ctx, "web", types.StrategicMergePatchType,
				[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"main","env":[{"name":"A","value":"b"}]}]}}}}`),
				metav1.PatchOptions{}))
			if container := patched.Spec.Template.Spec.Containers[0]; container.Image != "example.com/app:2" || len(container.Env) != 1 {
				t.Fatalf("not merged: %+v", container)
			}
			scale := must[*appsv1.Deployment](t)(deployments.Get(ctx, "web", metav1.GetOptions{}))
			list := must[*appsv1.DeploymentList](t)(deployments.List(ctx, metav1.ListOptions{LabelSelector: "app=web"}))
			if len(list.Items) != 1 || list.Items[0].UID != scale.UID || list.ResourceVersion == "" {
				t.Fatalf("list: %+v", list.ListMeta)
			}

			watcher := must[watch.Interface](t)(client.CoreV1().ConfigMaps(ns).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=seen"}))
			defer watcher.Stop()
			seen := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "seen"}, BinaryData: map[string][]byte{"b": {0, 255, 1}}}
			must[*corev1.ConfigMap](t)(client.CoreV1().ConfigMaps(ns).Create(ctx, seen, metav1.CreateOptions{}))
			event := <-watcher.ResultChan()
			if got, ok := event.Object.(*corev1.ConfigMap); !ok || event.Type != watch.Added || string(got.BinaryData["b"]) != "\x00\xff\x01" {
				t.Fatalf("watched: %+v", event)
			}
			zero := int64(0)
			if err := client.CoreV1().ConfigMaps(ns).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &zero},
				metav1.ListOptions{FieldSelector: "metadata.name=seen"}); err != nil {
				t.Fatal(err)
			}
			for event.Type != watch.Deleted {
				event = <-watcher.ResultChan()
			}
			if _, err := client.CoreV1().ConfigMaps(ns).Get(ctx, "seen", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Fatalf("still there: %v", err)
			}
		})
	}
}

// The dynamic and the metadata client know kinds by discovery alone.
func TestDynamicAndMetadataClients(t *testing.T) {
	ctx := shared.Within(t)
	config := restConfig(t)
	ns := namespace(t, ctx, shared.Clientset(t, config))
	configMaps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	objects := must[*dynamic.DynamicClient](t)(dynamic.NewForConfig(config)).Resource(configMaps).Namespace(ns)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "free", "labels": map[string]any{"free": "yes"}},
		"data":     map[string]any{"a": "b"},
	}}
	made := must[*unstructured.Unstructured](t)(objects.Create(ctx, object, metav1.CreateOptions{}))
	if value, _, _ := unstructured.NestedString(made.Object, "data", "a"); value != "b" || made.GetUID() == "" {
		t.Fatalf("created: %v", made)
	}
	partial := must[metadata.Interface](t)(metadata.NewForConfig(config)).Resource(configMaps).Namespace(ns)
	one := must[*metav1.PartialObjectMetadata](t)(partial.Get(ctx, "free", metav1.GetOptions{}))
	some := must[*metav1.PartialObjectMetadataList](t)(partial.List(ctx, metav1.ListOptions{LabelSelector: "free=yes"}))
	if one.UID != made.GetUID() || len(some.Items) != 1 || some.Items[0].UID != made.GetUID() {
		t.Fatalf("metadata: %+v %+v", one, some)
	}
	found := must[*discovery.DiscoveryClient](t)(discovery.NewDiscoveryClientForConfig(config))
	resources := must[[]*metav1.APIResourceList](t)(found.ServerPreferredResources())
	if len(resources) < 15 {
		t.Fatalf("preferred resources of %d group versions only", len(resources))
	}
	if document, err := found.OpenAPISchema(); err != nil || len(document.GetPaths().GetPath()) < 300 {
		t.Fatalf("OpenAPI v2 as protobuf: %v", err)
	}
	if documents, err := found.OpenAPIV3().Paths(); err != nil || documents["apis/apps/v1"] == nil {
		t.Fatalf("OpenAPI v3: %v", err)
	}
}
