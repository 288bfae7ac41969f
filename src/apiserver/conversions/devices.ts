/**
 * Claims and slices of devices between the versions of resource.k8s.io. v1beta2 has what v1 has; in v1beta1 a request of one kind of device
 * has the fields that are in `exactly` since, and a device has in `basic` what has been its own since.
 */
import {
  apiVersionOf,
  type JsonObject,
  type KubeObject,
  parseApiVersion,
  type SpecAndStatus,
} from '../../api/object.ts'
import { asList, asObject } from '../../api/unchecked.ts'

const FLAT = apiVersionOf('resource.k8s.io', 'v1beta1')

export function convertDevices(object: SpecAndStatus, apiVersion: string): KubeObject {
  const { group, version } = parseApiVersion(apiVersion)
  const renamed = { ...object, apiVersion: apiVersionOf(group, version) }
  const [from, to] = [object.apiVersion === FLAT, apiVersion === FLAT]
  const spec = asObject(object.spec)
  if (from === to || object.spec === undefined) return renamed
  const request = from ? withExactly : flattened
  switch (object.kind) {
    case 'ResourceSlice':
      return { ...renamed, spec: ofEach(spec, 'devices', from ? withoutBasic : withBasic) }
    case 'ResourceClaimTemplate':
      return { ...renamed, spec: { ...spec, spec: ofRequests(asObject(spec['spec']), request) } }
    default:
      return { ...renamed, spec: ofRequests(spec, request) }
  }
}

type Change = (one: JsonObject) => JsonObject

function ofEach(holder: JsonObject, field: string, change: Change): JsonObject {
  const list = holder[field]
  return Array.isArray(list) ? { ...holder, [field]: asList(list).map((one) => change(asObject(one))) } : holder
}

function ofRequests(spec: JsonObject, change: Change): JsonObject {
  const { devices } = spec
  return devices === undefined ? spec : { ...spec, devices: ofEach(asObject(devices), 'requests', change) }
}

const withExactly: Change = ({ name, firstAvailable, ...exactly }) => ({
  ...given({ name }),
  ...(Object.values(exactly).some(isSet) ? { exactly } : {}),
  ...given({ firstAvailable }),
})

/** Zero values of texts and numbers are as if they were not given. */
const isSet = (value: JsonObject[string] | undefined): boolean =>
  value !== undefined && value !== null && value !== '' && value !== 0

const flattened: Change = ({ name, exactly, firstAvailable }) => ({
  ...given({ name }),
  deviceClassName: '',
  ...asObject(exactly),
  ...given({ firstAvailable }),
})

const withoutBasic: Change = ({ name, basic }) => ({ ...given({ name }), ...asObject(basic) })

const withBasic: Change = ({ name, ...basic }) => ({ ...given({ name }), basic })

const given = (fields: { readonly [name: string]: JsonObject[string] | undefined }): JsonObject =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
