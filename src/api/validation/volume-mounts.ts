/** Where containers see volumes: mounts in their file system, and raw devices. */
import {
  type FieldError,
  forbiddenField,
  invalid,
  notFoundField,
  notSupported,
  required,
} from '../errors/field-errors.ts'
import type { Fields } from '../object.ts'
import { relativePath } from './paths.ts'

/** A pod's valid volumes by name. */
export interface VolumeTable {
  readonly sources: ReadonlyMap<string, Fields>
}

const PROPAGATION = ['Bidirectional', 'HostToContainer', 'None']

export function validateVolumeMounts(
  container: Fields,
  path: string,
  volumes: VolumeTable,
  errors: FieldError[],
): void {
  const mounts: readonly Fields[] = container['volumeMounts'] ?? []
  const devices = new Map<string, Fields>((container['volumeDevices'] ?? []).map((d: Fields) => [d['name'], d]))
  const devicePaths = new Set([...devices.values()].map((d) => d['devicePath']))
  const paths = new Set<string>()
  mounts.forEach((mount, i) => {
    const at = `${path}[${i}]`
    const name: string = mount['name'] ?? ''
    const mountPath: string = mount['mountPath'] ?? ''
    if (name === '') errors.push(required(`${at}.name`))
    if (!volumes.sources.has(name)) errors.push(notFoundField(`${at}.name`, name))
    if (mountPath === '') errors.push(required(`${at}.mountPath`))
    if (paths.has(mountPath)) errors.push(invalid(`${at}.mountPath`, mountPath, 'must be unique'))
    paths.add(mountPath)
    if (devices.has(name)) errors.push(invalid(`${at}.name`, name, 'must not already exist in volumeDevices'))
    if (devicePaths.has(mountPath))
      errors.push(invalid(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices'))
    const { subPath = '', subPathExpr = '' } = mount
    if (subPath !== '') subPathRule(subPath, `${path}.subPath`, errors)
    if (subPathExpr !== '') {
      if (subPath !== '')
        errors.push(invalid(`${at}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive'))
      subPathRule(subPathExpr, `${path}.subPathExpr`, errors)
    }
    const propagation: string | undefined = mount['mountPropagation'] ?? undefined
    if (propagation !== undefined) {
      if (!PROPAGATION.includes(propagation))
        errors.push(notSupported(`${path}.mountPropagation`, propagation, PROPAGATION))
      if (propagation === 'Bidirectional' && container['securityContext']?.privileged !== true)
        errors.push(
          forbiddenField(
            `${path}.mountPropagation`,
            'Bidirectional mount propagation is available only to privileged containers',
          ),
        )
    }
    recursiveReadOnly(mount, `${path}.recursiveReadOnly`, errors)
  })
}

function subPathRule(text: string, path: string, errors: FieldError[]): void {
  relativePath(text, path, errors)
}

function recursiveReadOnly(mount: Fields, path: string, errors: FieldError[]): void {
  const mode: string | undefined = mount['recursiveReadOnly'] ?? undefined
  if (mode === undefined || mode === 'Disabled') return
  if (mode !== 'IfPossible' && mode !== 'Enabled')
    return void errors.push(notSupported(path, mode, ['Disabled', 'Enabled', 'IfPossible']))
  if (!mount['readOnly']) errors.push(forbiddenField(path, 'may only be specified when readOnly is true'))
  if (mount['mountPropagation'] && mount['mountPropagation'] !== 'None')
    errors.push(forbiddenField(path, 'may only be specified when mountPropagation is None or not specified'))
}

export function validateVolumeDevices(
  container: Fields,
  path: string,
  volumes: VolumeTable,
  errors: FieldError[],
): void {
  const devices: readonly Fields[] = container['volumeDevices'] ?? []
  const mounts = new Map<string, Fields>((container['volumeMounts'] ?? []).map((m: Fields) => [m['name'], m]))
  const mountPaths = new Set([...mounts.values()].map((m) => m['mountPath']))
  const names = new Set<string>()
  const paths = new Set<string>()
  devices.forEach((device, i) => {
    const at = `${path}[${i}]`
    const { name = '', devicePath = '' } = device
    if (name === '') errors.push(required(`${at}.name`))
    if (names.has(name)) errors.push(invalid(`${at}.name`, name, 'must be unique'))
    const volume = volumes.sources.get(name)
    if (!volume) errors.push(notFoundField(`${at}.name`, name))
    else if (volume && !volume['persistentVolumeClaim'] && !volume['ephemeral'])
      errors.push(
        invalid(
          `${at}.name`,
          name,
          'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
        ),
      )
    if (devicePath === '') errors.push(required(`${at}.devicePath`))
    if (paths.has(devicePath)) errors.push(invalid(`${at}.devicePath`, devicePath, 'must be unique'))
    if (devicePath !== '' && devicePath.split('/').includes('..'))
      errors.push(invalid(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')"))
    if (mounts.has(name)) errors.push(invalid(`${at}.name`, name, 'must not already exist in volumeMounts'))
    if (mountPaths.has(devicePath))
      errors.push(invalid(`${at}.devicePath`, devicePath, 'must not already exist as a path in volumeMounts'))
    if (devicePath !== '') paths.add(devicePath)
    if (name !== '') names.add(name)
  })
}
