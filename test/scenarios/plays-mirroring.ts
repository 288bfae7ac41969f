/** Endpoints that users write, mirrored into EndpointSlices. */
import type { Fields } from '../../src/api/object.ts'
import { brief, create, patch, pause, type RecordablePlay, remove } from './acts.ts'
import type { Scene } from './stage.ts'

const service = (scene: Scene, spec: Fields = {}, labels: Fields = {}) =>
  create(scene, 'services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's', labels },
    spec: { ports: [{ port: 80 }], ...spec },
  })
const endpoints = (scene: Scene, subsets: readonly Fields[], metadata: Fields = {}) =>
  create(scene, 'endpoints', { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 's', ...metadata }, subsets })
const ports = [{ name: 'http', port: 80, protocol: 'TCP' }]
const at = (...ips: readonly string[]) => ips.map((ip) => ({ ip }))
const alone = { nodes: 1 } as const

export const mirroringPlays: Readonly<Record<string, RecordablePlay>> = brief<RecordablePlay>({
  'mirror-follows': {
    ...alone,
    async act(scene) {
      await service(scene)
      await endpoints(scene, [{ addresses: at('192.0.2.10'), ports }], { labels: { a: 'b' }, annotations: { c: 'd' } })
      await pause(scene, 2000)
      await patch(scene, 'endpoints', 's', {
        subsets: [{ addresses: at('192.0.2.11'), notReadyAddresses: at('192.0.2.12'), ports }],
      })
      await pause(scene, 2000)
      await remove(scene, 'endpoints', 's')
    },
  },
  'mirror-of-many-subsets': {
    ...alone,
    async act(scene) {
      await service(scene)
      const target = { kind: 'Pod', namespace: scene.namespace, name: 'p', uid: 'u' }
      await endpoints(scene, [
        { addresses: [{ ip: '192.0.2.10', hostname: 'h', nodeName: 'n', targetRef: target }], ports },
        { addresses: at('192.0.2.20'), ports: [{ port: 81 }] },
        { addresses: at('2001:db8::1'), ports },
        { addresses: at('192.0.2.30'), ports },
      ])
    },
  },
  'mirror-not-of-selectors': {
    ...alone,
    async act(scene) {
      await endpoints(scene, [{ addresses: at('192.0.2.10'), ports }], {
        labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' },
      })
      await service(scene)
      await pause(scene, 2000)
      await patch(scene, 'endpoints', 's', {
        metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': null } },
      })
      await pause(scene, 2000)
      await patch(scene, 'services', 's', { spec: { selector: { app: 'x' } } })
      await pause(scene, 3000)
    },
  },
  'mirror-waits-for-service': {
    ...alone,
    async act(scene) {
      await endpoints(scene, [{ addresses: at('192.0.2.10'), ports }])
      await pause(scene, 2000)
      await service(scene)
      await pause(scene, 2000)
      await patch(scene, 'endpoints', 's', { metadata: { labels: { x: 'y' } } })
      await pause(scene, 2000)
      await remove(scene, 'services', 's')
    },
  },
})
