/** The user of the scenarios as he is: each request is a command of the real kubectl. Only what the scenarios ask is there. */
import type { KubeObject } from '../../src/api/object.ts'
import type { Client, GroupVersionResource, ResourceClient } from '../../src/client/client.ts'
import { kubectlFor } from '../kubectl.ts'

const CASCADES = { Orphan: 'orphan', Background: 'background', Foreground: 'foreground' } as const

export function kubectlClient(kubeconfig: string): Pick<Client, 'resource' | 'raw'> {
  const of = (gvr: GroupVersionResource, namespace?: string): ResourceClient => {
    const kubectl = kubectlFor(kubeconfig, namespace)
    const { group, version, resource } = gvr
    const named = group === '' ? resource : `${resource}.${version}.${group}`
    const json = (...args: string[]) => kubectl.json(...args)
    const asked: Partial<ResourceClient> = {
      gvr,
      namespace: (name) => of(gvr, name),
      get: (name) => json('get', named, name),
      list: () => json('get', named),
      async create(object) {
        await kubectl.send('create', object)
        return json('get', named, object.metadata.name ?? '')
      },
      patch: (name, type, body, { subresource } = {}) =>
        json(
          ...['patch', named, name, '--type', type, '-p', JSON.stringify(body)],
          ...(subresource === undefined ? [] : ['--subresource', subresource]),
        ),
      async delete(name, { gracePeriodSeconds, propagationPolicy } = {}) {
        await kubectl(
          ...['delete', named, name, '--wait=false'],
          ...(propagationPolicy === undefined ? [] : [`--cascade=${CASCADES[propagationPolicy]}`]),
          ...(gracePeriodSeconds === undefined ? [] : [`--grace-period=${gracePeriodSeconds}`]),
          ...(gracePeriodSeconds === 0 ? ['--force'] : []),
        )
        return {} as KubeObject
      },
    }
    return asked as ResourceClient
  }
  return {
    resource: (<T extends KubeObject>(gvr: GroupVersionResource) =>
      of(gvr) as unknown as ResourceClient<T>) as Client['resource'],
    async raw(method, path) {
      if (method !== 'DELETE') throw new Error(`kubectl is asked for no ${method} here`)
      return { status: 200, body: await kubectlFor(kubeconfig)('delete', '--raw', path) }
    },
  }
}
