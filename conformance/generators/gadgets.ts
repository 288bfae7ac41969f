/** Objects of the Gadget custom resource, valid and broken, through every verb. */
import type { Case } from '../recording.ts'
import { mutate } from './mutations.ts'
import type { Chance } from './random.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of a custom kind
type Any = any
const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }

export function gadgetCases(gadgets: readonly Any[], rand: Chance, count: number): readonly Case[] {
  return Array.from({ length: count }, () => {
    const gadget = rand.pick(gadgets)
    const path = `/apis/${gadget.apiVersion}/namespaces/$NS/gadgets`
    const { object, what } = mutate(gadget, rand, 1 + Math.floor(rand.float() * 3))
    const validation = rand.pick(['', '&fieldValidation=Strict', '&fieldValidation=Ignore'])
    const metadata = object.metadata
    if (metadata && typeof metadata === 'object' && metadata.name === undefined) metadata.name = 'g'
    const other = path.includes('v1beta1') ? path.replace('v1beta1', 'v1') : path.replace('/v1/', '/v1beta1/')
    const body = JSON.stringify(object)
    const patch = rand.float() < 0.5 ? 'application/merge-patch+json' : 'application/apply-patch+yaml'
    const status = {
      spec: { size: 9 },
      status: { size: 2, selector: 'a=b', ready: rand.float() < 0.5 ? true : 'yes' },
    }
    return {
      name: what,
      gadget: true,
      steps: [
        { m: 'POST', p: `${path}?dryRun=All${validation}`, b: body },
        { m: 'POST', p: path, b: JSON.stringify(gadget) },
        { m: 'PUT', p: `${path}/g?x=1${validation}`, b: body },
        { m: 'PATCH', p: `${path}/g?fieldManager=m`, b: body, h: { 'content-type': patch } },
        {
          m: 'PATCH',
          p: `${path}/g/status`,
          b: JSON.stringify(status),
          h: { 'content-type': 'application/merge-patch+json' },
        },
        { m: 'GET', p: `${path}/g/scale` },
        { m: 'GET', p: `${other}/g` },
        { m: 'GET', p: `${path}?fieldSelector=spec.mode%3DA`, h: table },
        { m: 'DELETE', p: `${path}/g${rand.float() < 0.3 ? '?propagationPolicy=Foreground' : ''}` },
        { m: 'GET', p: `${path}/g` },
      ],
    }
  })
}
