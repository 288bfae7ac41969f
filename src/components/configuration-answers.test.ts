import assert from 'node:assert/strict'
import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { issue } from '../cluster/certificate.ts'
import { loadPki } from '../cluster/pki.ts'
import { refusalOfFlags } from './test-refusal.ts'

/** What is put into a file in the place of so many characters, and what a kube-apiserver v1.37.1 said of it; nothing where it served. */
type Answer = readonly [at: number, cut: number, put: string, refusal: string]

// Fields left out, of other types, given twice and not known, other versions, and texts that are none: asked on 2026-11-27.
const ANSWERS: Readonly<
  Record<string, { readonly flags: string; readonly base: string; readonly answers: readonly Answer[] }>
> = JSON.parse(readFileSync(new URL('./configuration-answers.json', import.meta.url), 'utf8'))

const runtime = simulatedRuntime(1)
const folder = mkdtempDisposableSync(join(tmpdir(), 'skiff-configurations-'))
after(() => folder.remove())
const pki = loadPki(runtime, undefined, '127.0.0.1', ['10.96.0.1'])
const serving = issue(runtime, { commonName: 'serving', usage: 'ca', validDays: 3 })
const file = (name: string, text: string) => {
  writeFileSync(join(folder.path, name), text)
  return join(folder.path, name)
}
const server = 'clusters: [{name: a, cluster: {server: "https://127.0.0.1:9"}}]'
const context = 'contexts: [{name: c, context: {cluster: a, user: u}}]\ncurrent-context: c'
file('hook.yaml', `apiVersion: v1\nkind: Config\n${server}\nusers: [{name: u, user: {}}]\n${context}\n`)
file('policy.yaml', 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n')
const limits = 'limits: [{type: Server, qps: 1, burst: 2}]'
file('erl.yaml', `apiVersion: eventratelimit.admission.k8s.io/v1alpha1\nkind: Configuration\n${limits}\n`)
const key = file('key', serving.key)
const USUAL = [
  '--etcd-servers=http://127.0.0.1:2379',
  `--tls-cert-file=${file('crt', serving.cert)}`,
  `--tls-private-key-file=${key}`,
  '--service-account-issuer=https://kubernetes.default.svc',
  `--service-account-key-file=${key}`,
  `--service-account-signing-key-file=${key}`,
  '--service-cluster-ip-range=10.96.0.0/16',
]

for (const [name, { flags, base, answers }] of Object.entries(ANSWERS))
  test(`a file of configuration is judged as kube-apiserver judges it: ${name}`, async () => {
    const given = join(folder.path, `${name}.yaml`)
    const args = flags.split(' ').flatMap((arg) => (arg.startsWith('!') ? [] : [arg.replace('FILE', given)]))
    const all = [...USUAL, ...(flags.includes('!authorization-mode') ? [] : ['--authorization-mode=RBAC']), ...args]
    const differing: object[] = []
    for (const [at, cut, put, wanted] of answers) {
      const text = base.slice(0, at) + put + base.slice(at + cut)
      writeFileSync(given, text.replaceAll('DIR', folder.path))
      const refused = await refusalOfFlags(
        runtime,
        all.map((arg) => arg.replaceAll('DIR', folder.path)),
        { pki, auditLog: join(folder.path, 'audit.log') },
      )
      const found = refused
        .replaceAll(given, 'FILE')
        .replaceAll(folder.path, 'DIR')
        .replace(/\s*\n\s*/g, ' ')
        .trim()
      if (found !== wanted) differing.push({ put, wanted, found })
    }
    assert.deepEqual(differing, [])
  })
