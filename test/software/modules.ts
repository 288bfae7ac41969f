/**
 * Software of others at pinned versions: Go modules, which hold manifests and charts beside their sources. They come from the
 * module proxy into Go's module cache, and only what has the digest written here is used.
 */
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface PinnedModule {
  readonly path: string
  readonly version: string
  /** Of the module's content, as in a go.sum. */
  readonly sum: string
}

const pinned = (path: string, version: string, sum: string): PinnedModule => ({ path, version, sum })

export const modules = {
  argoCd: pinned('github.com/argoproj/argo-cd/v3', 'v3.5.7', 'h1:Xm1BF+I5OgDKUG3SDK49vn2/Y5AMyaNVko+/JT08gj0='),
  kubePrometheus: pinned(
    'github.com/prometheus-operator/kube-prometheus',
    'v0.18.0',
    'h1:NHWLvZ1soAeLRC5BICwlga2p2Y33ICK4FXc4nxQ65T0=',
  ),
  prometheusOperator: pinned(
    'github.com/prometheus-operator/prometheus-operator',
    'v0.91.0',
    'h1:rb4MKt5MlpYyDOzgGv1P8zhiHDxJrgQ6p6zhsIc+7ys=',
  ),
  certManager: pinned(
    'github.com/cert-manager/cert-manager',
    'v1.21.2',
    'h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=',
  ),
  jobSet: pinned('sigs.k8s.io/jobset', 'v0.12.0', 'h1:YYPuV0px8Ongq/RXmJg6V0w2UC67aiR+rCMD06vhQQQ='),
  kueue: pinned('sigs.k8s.io/kueue', 'v0.19.0', 'h1:5yCu85qsJhvUVVxE0Csw546DDBcRwUXpBEOmEFlws34='),
  cloudNativePg: pinned(
    'github.com/cloudnative-pg/cloudnative-pg',
    'v1.30.0',
    'h1:fnhVq44xXx97MNiuvJsPrX1vSjYbgdyBK5MSGfdHdp0=',
  ),
  gatewayApi: pinned('sigs.k8s.io/gateway-api', 'v1.4.0', 'h1:ZwlNM6zOHq0h3WUX2gfByPs2yAEsy/EenYJB78jpQfQ='),
} as const

/** For the `skip` option of a test: false, or why modules cannot be had. */
export const withoutGo: string | false =
  spawnSync('go', ['version']).status === 0 ? false : 'Go is not there: modules are fetched with it'

/** Where the module's files are, read-only. @throws when it cannot be had, or is not what was pinned. */
export async function folderOf({ path, version, sum }: PinnedModule): Promise<string> {
  const { stdout } = await run('go', ['mod', 'download', '-json', `${path}@${version}`], {
    env: { ...process.env, GOFLAGS: '-mod=mod' },
  })
  const { Dir, Sum } = JSON.parse(stdout)
  if (Sum !== sum) throw new Error(`${path}@${version} is not what was pinned: ${Sum} instead of ${sum}`)
  return Dir
}
