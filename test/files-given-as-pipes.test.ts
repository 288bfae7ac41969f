/**
 * What is given as a pipe (`--kubeconfig <(…)`) says what it says once: each file that a command line names is read once. Read again it is
 * empty, and refused.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { liveRuntime } from '../src/base/live-runtime.ts'
import { issue } from '../src/cluster/certificate.ts'
import { freePort } from './components/processes.ts'

const skiff = fileURLToPath(new URL('../bin/skiff.js', import.meta.url))
const configuration = (kind: string, fields: object, apiVersion = 'apiserver.config.k8s.io/v1') =>
  JSON.stringify({ apiVersion, kind, ...fields })
const kubeconfig = configuration(
  'Config',
  {
    clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'c', context: { cluster: 'a', user: 'u' } }],
    'current-context': 'c',
  },
  'v1',
)

function folderOf(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'skiff-pipes-'))
  const children: ChildProcess[] = []
  // They write into the folder until they have ended.
  t.after(async () => {
    await Promise.all(children.map(ended))
    rmSync(folder, { recursive: true })
  })
  return {
    path: folder,
    children,
    file(name: string, text: string) {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    },
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

/** Files by the flags that name them. */
type Pipes = Readonly<Record<string, string>>

/** Runs it until it has said what is waited for. @throws with all that was said, if it ends before */
async function untilSaid(children: ChildProcess[], args: readonly string[], pipes: Pipes, what: RegExp): Promise<void> {
  const substituted = Object.entries(pipes).map(([flag, file]) => `--${flag}=<(cat '${file}')`)
  const script = ['exec "$0" "$@"', ...substituted].join(' ')
  const stdio = ['ignore', 'ignore', 'pipe'] as const
  const child = spawn('bash', ['-c', script, process.execPath, skiff, ...args], { stdio: [...stdio] })
  children.push(child)
  let said = ''
  for await (const chunk of child.stderr) {
    said += chunk
    if (what.test(said)) return
  }
  assert.fail(said)
}

const OPTIONS = { timeout: 60_000 }

test('an API server whose files are all given as pipes serves', OPTIONS, async (t) => {
  const { path, children, file } = folderOf(t)
  const { cert, key } = issue(liveRuntime({ log: { write: () => {} } }), {
    ...{ commonName: 'localhost', usage: 'ca', hosts: ['localhost'], validDays: 1 },
  })
  const texts = {
    'tls-cert-file': cert,
    'tls-private-key-file': key,
    'client-ca-file': cert,
    'requestheader-client-ca-file': cert,
    'kubelet-certificate-authority': cert,
    'kubelet-client-certificate': cert,
    'kubelet-client-key': key,
    'service-account-signing-key-file': key,
    'token-auth-file': 'token,user,1\n',
    'authentication-config': configuration('AuthenticationConfiguration', {}),
    'authentication-token-webhook-config-file': kubeconfig,
    'authorization-webhook-config-file': kubeconfig,
    'encryption-provider-config': configuration('EncryptionConfiguration', {
      resources: [{ resources: ['secrets'], providers: [{ identity: {} }] }],
    }),
    'egress-selector-config-file': configuration('EgressSelectorConfiguration', {}, 'apiserver.k8s.io/v1beta1'),
    'tracing-config-file': configuration('TracingConfiguration', {}),
    'admission-control-config-file': configuration('AdmissionConfiguration', {}),
    'audit-policy-file': configuration('Policy', { rules: [{ level: 'None' }] }, 'audit.k8s.io/v1'),
    'audit-webhook-config-file': kubeconfig,
    'allow-metric-labels-manifest': '"a,b": c',
  }
  const pipes = Object.fromEntries(Object.entries(texts).map(([flag, text]) => [flag, file(flag, text)]))
  const others = [
    '--encryption-provider-config-automatic-reload',
    '--service-account-issuer=https://localhost',
    `--service-account-key-file=${file('key', key)}`,
    '--authorization-mode=RBAC,Webhook',
  ]
  await untilSaid(
    children,
    ['apiserver', `--data-dir=${path}/data`, `--secure-port=${await freePort()}`, ...others],
    pipes,
    / serves on /,
  )
})

test('a scheduler whose kubeconfigs are pipes asks the server that they name', OPTIONS, async (t) => {
  const { path, children, file } = folderOf(t)
  const name = file('config', kubeconfig)
  const pipes = { kubeconfig: name, 'authentication-kubeconfig': name, 'authorization-kubeconfig': name }
  const args = ['scheduler', `--cert-dir=${path}/certs`, '--bind-address=127.0.0.1', '--secure-port=0']
  await untilSaid(children, args, pipes, /the API server https:\/\/127\.0\.0\.1:1 does not answer/)
})
