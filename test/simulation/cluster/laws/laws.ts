/** The laws of the simulation: each is told what happens, and says what may not be. */
import type { Fields, KubeObject } from '../../../../src/api/object.ts'
import type { ApiResponse } from '../../../../src/api/request.ts'
import type { StatusError } from '../../../../src/api/status.ts'
import type { SimulatedRuntime } from '../../../../src/base/simulated-runtime.ts'
import type { Change, Truth } from '../truth.ts'
import type { Life, Passing, WireTaps } from '../wire.ts'

export interface Law {
  changed?(change: Change): void
  arrives?(passing: Passing): void
  done?(passing: Passing, response: ApiResponse | StatusError): void
  delivered?(life: Life, object: KubeObject, type: Parameters<WireTaps['delivered']>[2]): void
}

export interface LawParts {
  readonly runtime: SimulatedRuntime
  readonly truth: Truth
  readonly failed: (reason: string) => void
}

export const describe = ({ kind, metadata }: KubeObject): string =>
  `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`

export const isMarked = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined

export const isReady = (pod: KubeObject): boolean =>
  (pod['status']?.conditions ?? []).some(({ type, status }: Fields) => type === 'Ready' && status === 'True')
