/** The fields of KubeletConfiguration, as the settings and the groups around them name them. */
import type { Struct, ValueShape } from '../../api/configuration/shape.ts'
import { KUBELET_SETTINGS, type SettingType } from './settings.ts'

const GROUPS: Readonly<Record<string, string>> = {
  '': 'KubeletConfiguration',
  authentication: 'KubeletAuthentication',
  'authentication.x509': 'KubeletX509Authentication',
  'authentication.webhook': 'KubeletWebhookAuthentication',
  'authentication.anonymous': 'KubeletAnonymousAuthentication',
  authorization: 'KubeletAuthorization',
  'authorization.webhook': 'KubeletWebhookAuthorization',
  crashLoopBackOff: 'CrashLoopBackOffConfig',
  memorySwap: 'MemorySwapConfiguration',
  userNamespaces: 'UserNamespaces',
}

const struct = (type: string, fields: Readonly<Record<string, ValueShape>>): Struct => ({ type, fields })
const taint = struct('Taint', { key: 'string', value: 'string', effect: 'string', timeAdded: 'string' })
const output = { splitStream: 'bool', infoBufferSize: 'any' } as const

const SHAPES: Readonly<Record<SettingType, ValueShape>> = {
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  float: 'float64',
  duration: 'duration',
  ip: 'string',
  string: 'string',
  strings: ['string'],
  array: ['string'],
  map: { of: 'string' },
  'map<': { of: 'string' },
  gates: { of: 'bool' },
  headers: { of: ['string'] },
  taints: [taint],
  any: 'any',
}

const DEEPER: Readonly<Record<string, ValueShape>> = {
  logging: struct('LoggingConfiguration', {
    format: 'string',
    flushFrequency: 'any',
    verbosity: 'int32',
    vmodule: [struct('VModuleItem', { filePattern: 'string', verbosity: 'int32' })],
    options: struct('FormatOptions', { text: struct('TextOptions', output), json: struct('JSONOptions', output) }),
  }),
  reservedMemory: [struct('MemoryReservation', { numaNode: 'int32', limits: 'any' })],
  shutdownGracePeriodByPodPriority: [
    struct('ShutdownGracePeriodByPodPriority', { priority: 'int32', shutdownGracePeriodSeconds: 'int64' }),
  ],
  tlsCurvePreferences: ['int32'],
  tracing: struct('TracingConfiguration', { endpoint: 'string', samplingRatePerMillion: 'int32' }),
}

function groupAt(path: readonly string[]): Struct {
  const fields: Record<string, ValueShape> = path.length === 0 ? { kind: 'string', apiVersion: 'string' } : {}
  for (const { field, type } of KUBELET_SETTINGS) {
    const name = field?.[path.length]
    if (field === undefined || name === undefined || path.some((part, i) => part !== field[i])) continue
    fields[name] ??= field.length > path.length + 1 ? groupAt([...path, name]) : (DEEPER[name] ?? SHAPES[type])
  }
  return { type: GROUPS[path.join('.')] ?? '', fields, goPackage: 'v1beta1' }
}

export const KUBELET_CONFIGURATION = groupAt([])
