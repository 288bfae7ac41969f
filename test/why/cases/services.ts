/** Services and Ingresses whose load balancer nothing takes down. */
import type { Fields } from '../../../src/api/object.ts'
import { warn } from '../stage.ts'
import type { Case } from './case.ts'

export const services: Readonly<Record<string, Case>> = {
  '18 failing': {
    title: 'a Service of type LoadBalancer whose cloud controller fails',
    async setUp(stage, namespace) {
      const object = loadBalancer(namespace)
      await stage.make(object)
      await stage.remove(object)
      await warn(
        stage,
        object,
        'SyncLoadBalancerFailed',
        'Error syncing load balancer: failed to delete load balancer: Expected HTTP response code [] but got 409',
        'service-controller',
      )
      return { kind: 'svc', name: 'lb' }
    },
    verdict: 'refused',
    cause: 'controller-failing',
    responsible: /service-controller/,
    sentence: /got 409/,
  },
  '18 gone': {
    title: 'a Service of type LoadBalancer whose cloud controller is gone',
    async setUp(stage, namespace) {
      const object = loadBalancer(namespace)
      await stage.make(object)
      await stage.remove(object)
      return { kind: 'svc', name: 'lb' }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /cloud-controller-manager/,
  },
  '19': {
    title: 'an Ingress whose controller was removed',
    async setUp(stage, namespace) {
      const object = {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'Ingress',
        metadata: { name: 'i', namespace, finalizers: ['ingress.k8s.aws/resources'] },
        spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
      }
      await stage.make(object)
      await stage.remove(object)
      return { kind: 'ing', name: 'i' }
    },
    verdict: 'nobody',
    cause: 'controller-missing',
    responsible: /AWS Load Balancer Controller/,
  },
}

function loadBalancer(namespace: string): Fields {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'lb', namespace, finalizers: ['service.kubernetes.io/load-balancer-cleanup'] },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }], selector: { app: 'a' } },
  }
}
