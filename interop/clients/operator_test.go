package clients

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/go-logr/logr"

	"skiff/interop/shared"
)

const finalizer = "interop.example.com/cleanup"

// operator runs what every App asks for: a Deployment, a Service and a ConfigMap of settings, owned by it. Its finalizer
// goes when the cleanup (a ConfigMap that nobody owns) is done.
type operator struct{ client.Client }

func (o operator) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var app App
	if err := o.Get(ctx, request.NamespacedName, &app); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !app.DeletionTimestamp.IsZero() {
		if !controllerutil.ContainsFinalizer(&app, finalizer) {
			return ctrl.Result{}, nil
		}
		record := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name + "-cleaned"}}
		if err := o.Create(ctx, record); err != nil && !apierrors.IsAlreadyExists(err) {
			return ctrl.Result{}, err
		}
		controllerutil.RemoveFinalizer(&app, finalizer)
		return ctrl.Result{}, o.Update(ctx, &app)
	}
	if controllerutil.AddFinalizer(&app, finalizer) {
		if err := o.Update(ctx, &app); err != nil {
			return ctrl.Result{}, err
		}
	}
	labels := map[string]string{"app": app.Name}
	meta := metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name + "-run"}
	run, service, settings := &appsv1.Deployment{ObjectMeta: meta}, &corev1.Service{ObjectMeta: meta}, &corev1.ConfigMap{ObjectMeta: meta}
	for _, owned := range []struct {
		object client.Object
		mutate func()
	}{
		{run, func() {
			replicas := int32(2)
			run.Spec.Replicas = &replicas
			run.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
			run.Spec.Template.Labels = labels
			run.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: app.Spec.Image}}
		}},
		{service, func() {
			service.Spec.Selector = labels
			service.Spec.Ports = []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}
		}},
		{settings, func() { settings.Data = map[string]string{"level": app.Spec.Level} }},
	} {
		_, err := controllerutil.CreateOrUpdate(ctx, o.Client, owned.object, func() error {
			owned.mutate()
			return controllerutil.SetControllerReference(&app, owned.object, o.Scheme())
		})
		if err != nil {
			return ctrl.Result{}, err
		}
	}
	if app.Status.Image == app.Spec.Image {
		return ctrl.Result{}, nil
	}
	app.Status.Image = app.Spec.Image
	return ctrl.Result{}, o.Status().Update(ctx, &app)
}

// An operator builds what its objects ask for, repairs it, and a foreground deletion takes all of it, the owner last.
func TestOperatorIsDeletedInTheForeground(t *testing.T) {
	log.SetLogger(logr.Discard())
	ctx := shared.Within(t)
	config := restConfig(t)
	ns := namespace(t, ctx, shared.Clientset(t, config))
	defineApps(t, ctx, config)
	manager := must[ctrl.Manager](t)(ctrl.NewManager(config, ctrl.Options{
		Scheme:                  appScheme(t),
		Metrics:                 server.Options{BindAddress: "0"},
		LeaderElection:          true,
		LeaderElectionID:        "operator.interop.example.com",
		LeaderElectionNamespace: ns,
		Cache:                   cache.Options{DefaultNamespaces: map[string]cache.Config{ns: {}}},
	}))
	err := ctrl.NewControllerManagedBy(manager).
		For(&App{}).
		Owns(&appsv1.Deployment{}).Owns(&corev1.Service{}).Owns(&corev1.ConfigMap{}).
		Complete(operator{manager.GetClient()})
	if err != nil {
		t.Fatal(err)
	}
	managed, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(managed) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the manager ended with: %v", err)
		}
	}()

	direct := must[client.Client](t)(client.New(config, client.Options{Scheme: appScheme(t)}))
	app := &App{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "shop"},
		Spec:       AppSpec{Image: "example.com/shop:1"},
	}
	if err := direct.Create(ctx, app); err != nil {
		t.Fatal(err)
	}
	key := client.ObjectKey{Namespace: ns, Name: "shop-run"}
	owned := []client.Object{&appsv1.Deployment{}, &corev1.Service{}, &corev1.ConfigMap{}}
	for _, object := range owned {
		eventually(t, ctx, fmt.Sprintf("%T", object), func() bool { return direct.Get(ctx, key, object) == nil })
		if owners := object.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != app.UID || !*owners[0].BlockOwnerDeletion {
			t.Fatalf("owners of %T: %v", object, owners)
		}
	}
	eventually(t, ctx, "the status", func() bool {
		return direct.Get(ctx, client.ObjectKeyFromObject(app), app) == nil && app.Status.Image == "example.com/shop:1"
	})
	if settings := owned[2].(*corev1.ConfigMap); settings.Data["level"] != "info" {
		t.Fatalf("the definition's default is missing: %v", settings.Data)
	}
	eventually(t, ctx, "pods of the deployment", func() bool {
		var pods corev1.PodList
		return direct.List(ctx, &pods, client.InNamespace(ns), client.MatchingLabels{"app": "shop"}) == nil && len(pods.Items) == 2
	})
	if err := direct.Delete(ctx, owned[1]); err != nil {
		t.Fatal(err)
	}
	removed := owned[1].GetUID()
	eventually(t, ctx, "the service again", func() bool {
		return direct.Get(ctx, key, owned[1]) == nil && owned[1].GetUID() != removed
	})

	if err := direct.Delete(ctx, app, client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		t.Fatal(err)
	}
	eventually(t, ctx, "the end of the owner", func() bool {
		return apierrors.IsNotFound(direct.Get(ctx, client.ObjectKeyFromObject(app), app))
	})
	for _, object := range owned {
		if err := direct.Get(ctx, key, object); !apierrors.IsNotFound(err) {
			t.Fatalf("%T outlived its owner: %v", object, err)
		}
	}
	var cleaned corev1.ConfigMap
	if err := direct.Get(ctx, client.ObjectKey{Namespace: ns, Name: "shop-cleaned"}, &cleaned); err != nil {
		t.Fatalf("the finalizer was not honoured: %v", err)
	}
}
