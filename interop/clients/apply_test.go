package clients

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"

	"skiff/interop/shared"
)

// Fields belong to who applied them: conflicts name the owner, force takes over, what is no longer applied goes.
func TestServerSideApply(t *testing.T) {
	for _, contentType := range encodings {
		t.Run(contentType[len("application/"):], func(t *testing.T) {
			ctx := shared.Within(t)
			client := shared.Clientset(t, speaking(restConfig(t), contentType))
			ns := namespace(t, ctx, client)
			configMaps := client.CoreV1().ConfigMaps(ns)
			mine := metav1.ApplyOptions{FieldManager: "mine"}
			yours := metav1.ApplyOptions{FieldManager: "yours"}

			wanted := coreapply.ConfigMap("shared", ns).WithData(map[string]string{"a": "1", "b": "1"})
			must[*corev1.ConfigMap](t)(configMaps.Apply(ctx, wanted, mine))
			other := coreapply.ConfigMap("shared", ns).WithData(map[string]string{"a": "2", "c": "3"})
			_, err := configMaps.Apply(ctx, other, yours)
			if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `conflict with "mine": .data.a`) {
				t.Fatalf("no conflict: %v", err)
			}
			yours.Force = true
			taken := must[*corev1.ConfigMap](t)(configMaps.Apply(ctx, other, yours))
			if taken.Data["a"] != "2" || taken.Data["b"] != "1" || taken.Data["c"] != "3" {
				t.Fatalf("not taken over: %v", taken.Data)
			}
			left := must[*corev1.ConfigMap](t)(configMaps.Apply(ctx, coreapply.ConfigMap("shared", ns), mine))
			if _, there := left.Data["b"]; there || left.Data["a"] != "2" {
				t.Fatalf("given up fields: %v", left.Data)
			}

			// What was read can be applied again without changing anything.
			deployments := client.AppsV1().Deployments(ns)
			web := appsapply.Deployment("web", ns).WithSpec(appsapply.DeploymentSpec().
				WithReplicas(1).
				WithSelector(metaapply.LabelSelector().WithMatchLabels(map[string]string{"app": "web"})).
				WithTemplate(coreapply.PodTemplateSpec().
					WithLabels(map[string]string{"app": "web"}).
					WithSpec(coreapply.PodSpec().WithContainers(coreapply.Container().WithName("main").WithImage("example.com/app:1")))))
			if _, err := deployments.Apply(ctx, web, mine); err != nil {
				t.Fatal(err)
			}
			current, err := deployments.Get(ctx, "web", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			extracted, err := appsapply.ExtractDeployment(current, "mine")
			if err != nil {
				t.Fatal(err)
			}
			if image := *extracted.Spec.Template.Spec.Containers[0].Image; image != "example.com/app:1" {
				t.Fatalf("extracted: %s", image)
			}
			again, err := deployments.Apply(ctx, extracted, mine)
			if err != nil || again.Generation != current.Generation {
				t.Fatalf("an apply of the same changed something: %v, generation %d to %d", err, current.Generation, again.Generation)
			}
		})
	}
}
