import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { issue } from '../cluster/certificate.ts'
import { loadPki } from '../cluster/pki.ts'
import { refusalOfFlags } from './test-refusal.ts'

// Each with what a kube-apiserver v1.37.1 said to it on 2026-11-27; nothing where it served.
const ANSWERS: readonly [args: string, refusal: string][] = JSON.parse(
  readFileSync(new URL('./refused-files.json', import.meta.url), 'utf8'),
)

const kubeconfig = (cluster: string, user = '') =>
  `apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {${cluster}}}]\nusers: [{name: u, user: {${user}}}]\ncontexts: [{name: c, context: {cluster: a, user: u}}]\ncurrent-context: c\n`
const SERVER = 'server: "https://127.0.0.1:9"'

const runtime = simulatedRuntime(1)
const folder = mkdtempDisposableSync(join(tmpdir(), 'skiff-refused-files-'))
after(() => folder.remove())
const pki = loadPki(runtime, undefined, '127.0.0.1', ['10.96.0.1'])
const [admin, serving] = ['admin', 'serving'].map((commonName) =>
  issue(runtime, { commonName, usage: 'ca', validDays: 3 }),
)
const config = (kind: string, rest: string) => `apiVersion: apiserver.config.k8s.io/v1\nkind: ${kind}\n${rest}\n`
const encryption = (name: string) =>
  config('EncryptionConfiguration', `resources: [{resources: ["${name}"], providers: [{identity: {}}]}]`)
for (const [name, text] of Object.entries({
  'admin.crt': admin?.cert,
  'admin.key': admin?.key,
  'serving.crt': serving?.cert,
  'serving.key': serving?.key,
  'ca.key': pki.ca.key,
  'ec521.key': generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
  'sa.key': pki.serviceAccount.privateKey,
  'empty.pem': '',
  'empty.yaml': '',
  'text.pem': 'hello',
  'authn4.yaml': config('AuthenticationConfiguration', 'jwt:\n- {}'),
  'authn12.yaml': config(
    'AuthenticationConfiguration',
    'jwt: [{issuer: {url: "https://a", audiences: [x], discoveryURL: "http://b?x#y"}, claimMappings: {username: {claim: sub, prefix: ""}}}]',
  ),
  'group.yaml': encryption('foo.*'),
  'groups.yaml': encryption('a.b.*'),
  'authz1.yaml': config('AuthorizationConfiguration', 'authorizers: []'),
  'authz-abac.yaml': config('AuthorizationConfiguration', 'authorizers: [{type: ABAC, name: abac}]'),
  'authz-empty.yaml': config(
    'AuthorizationConfiguration',
    `authorizers: [{type: Webhook, name: a, webhook: {timeout: 3s, subjectAccessReviewVersion: v1, matchConditionSubjectAccessReviewVersion: v1, failurePolicy: Deny, authorizedTTL: 1m, unauthorizedTTL: 1m, connectionInfo: {type: KubeConfigFile, kubeConfigFile: ${join(folder.path, 'empty.yaml')}}}}]`,
  ),
  'policies.jsonl': '# c\nnull\nx\n',
  'okpol.yaml': 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: None}]\n',
  'hook.yaml': kubeconfig(SERVER),
  'hook-ca.yaml': kubeconfig(`${SERVER}, certificate-authority: /nope.pem`),
  'hook-cadata.yaml': kubeconfig(`${SERVER}, certificate-authority-data: aGVsbG8=`),
  'hook-noserver.yaml': kubeconfig('server: ""'),
  'hook-cert.yaml': kubeconfig(SERVER, 'client-certificate: /nope.crt, client-key: /nope.key'),
  'hook-two.yaml': kubeconfig(SERVER, 'token: a, username: b, password: c'),
  't1.csv': 'a,b\n',
  't2.csv': 'a,b,c\na,d,e\n',
  't3.csv': ',b,c\n',
  't4.csv': 'a,"b,c\n',
  't7.csv': 'a,b,c,"x,y",z\nq,,\n',
}))
  writeFileSync(join(folder.path, name), text ?? '')

const USUAL: Readonly<Record<string, string>> = {
  'etcd-servers': 'http://127.0.0.1:2379',
  'tls-cert-file': 'DIR/serving.crt',
  'tls-private-key-file': 'DIR/serving.key',
  'proxy-client-cert-file': 'DIR/admin.crt',
  'proxy-client-key-file': 'DIR/admin.key',
  'service-account-issuer': 'https://kubernetes.default.svc',
  'service-account-key-file': 'DIR/sa.key',
  'service-account-signing-key-file': 'DIR/sa.key',
  'authorization-mode': 'Node,RBAC',
  'service-cluster-ip-range': '10.96.0.0/16',
}

/** What a server is refused with whose flags these are besides the usual ones, in place of their like, or (`!flag`) instead of them. */
async function refusal(changes: string): Promise<string> {
  const given = changes.split(' ')
  const without = given.map((arg) => arg.replace(/^(!|--)/, '').replace(/=.*/s, ''))
  const rest = Object.entries(USUAL).flatMap(([name, value]) => (without.includes(name) ? [] : [`--${name}=${value}`]))
  const args = [...rest, ...given.filter((arg) => !arg.startsWith('!'))].map((arg) =>
    arg.replaceAll('DIR', folder.path),
  )
  const refused = await refusalOfFlags(runtime, args, { pki, auditLog: join(folder.path, 'audit.log') })
  return refused.replaceAll(folder.path, 'DIR')
}

test('files that are missing, empty or wrong are refused in the words that kube-apiserver has for each flag', async () => {
  const found = await Promise.all(ANSWERS.map(async ([args, wanted]) => ({ args, wanted, found: await refusal(args) })))
  assert.deepEqual(
    found.filter(({ wanted, found }) => wanted !== found),
    [],
  )
  assert.ok(ANSWERS.length > 50)
})
