import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFlags } from '../flags.ts'
import { KUBELET_FLAGS } from './settings.ts'
import { settledKubelet } from './settle.ts'

const settled = (...args: readonly string[]) => settledKubelet(parseFlags('kubelet', KUBELET_FLAGS, args), () => {})

const NAME =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

test('a command line is refused in the words of a kubelet v1.37.1', () => {
  const taints = (text: string, why: string) =>
    [`--register-with-taints=${text}`, `invalid argument "${text}" for "--register-with-taints" flag: ${why}`] as const
  const invalid = 'failed to validate kubelet flags: invalid node labels:'
  for (const [arg, message] of [
    [
      '--max-pods=99999999999',
      'invalid argument "99999999999" for "--max-pods" flag: strconv.ParseInt: parsing "99999999999": value out of range',
    ],
    taints('x=y:NoSchedule:z', 'invalid taint spec: x=y:NoSchedule:z'),
    taints('x=y', `invalid taint spec: x=y, ${NAME}`),
    taints('x', 'invalid taint spec: x'),
    taints('a=b-', `invalid taint spec: a=b, ${NAME}`),
    taints('a:Nope-', 'invalid taint effect: Nope, unsupported taint effect'),
    taints('a:Nope', 'invalid taint effect: Nope, unsupported taint effect'),
    taints('_a=b:NoSchedule', `invalid taint spec: _a=b:NoSchedule, ${NAME}`),
    taints('a=_b:NoSchedule', `invalid taint spec: a=_b:NoSchedule, ${VALUE}`),
    taints('a=b:NoSchedule,a=b:NoSchedule', 'duplicated taints with the same key and effect: {a b NoSchedule <nil>}'),
    ['--node-labels=a=b=c', `${invalid} 'b=c' - ${VALUE}`],
    ['--node-labels=A_=', `${invalid} 'A_' - ${NAME}`],
    ['--node-labels=kubelet.kubernetes.io/q=!', `${invalid} '!' - ${VALUE}`],
    [
      '--node-labels=kubernetes.io/x=1,foo.k8s.io/y=2,x.node.kubernetes.io/z=3',
      `failed to validate kubelet flags: unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [foo.k8s.io/y kubernetes.io/x]
--node-labels in the 'kubernetes.io' namespace must begin with an allowed prefix (kubelet.kubernetes.io, node.kubernetes.io) or be in the specifically allowed set (beta.kubernetes.io/arch, beta.kubernetes.io/instance-type, beta.kubernetes.io/os, failure-domain.beta.kubernetes.io/region, failure-domain.beta.kubernetes.io/zone, kubernetes.io/arch, kubernetes.io/hostname, kubernetes.io/os, node.kubernetes.io/instance-type, topology.kubernetes.io/region, topology.kubernetes.io/zone)`,
    ],
    ['--tls-min-version=VersionTLS99', 'failed to construct kubelet dependencies: unknown tls version "VersionTLS99"'],
    ['--authorization-mode=ABAC', 'failed to run Kubelet: unknown authorization mode ABAC'],
    ['--logging-format=nope', 'initialize logging: logging.format: Invalid value: "nope": Unsupported log format'],
    ['--container-runtime-endpoint=tcp://x', 'failed to run Kubelet: only support unix socket endpoint'],
  ] as const)
    assert.throws(() => settled(arg), { message })
  settled('--pod-max-pids=99999999999')
  settled('--max-pods=1_0', '--kube_api_qps=5')
  settled('--register-with-taints=a-,b:NoSchedule-,a=b:NoSchedule,a:NoSchedule-')
  settled('--node-labels=a=b,')
  settled('--node-labels=a=_b', '--node-labels=a=b, c=d')
  settled('--node-labels=a,node.kubernetes.io/x=y', '--register-with-taints=a=b:NoSchedule,a=b:NoExecute')
})

test('of taints that are given again the last count, and those that are not to be are none', () => {
  const given = ['--register-with-taints=a=b:NoSchedule', '--register-with-taints=c-,d=e:NoExecute,f:NoSchedule-']
  const values = parseFlags('kubelet', KUBELET_FLAGS, given)
  assert.deepEqual(values.get('register-with-taints'), ['d=e:NoExecute'])
})
