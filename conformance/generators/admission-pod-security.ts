/** The pod security standards: pods that break them, in namespaces that hold them. */
import type { Case } from '../recording.ts'
import { type Any, core, deployment, merge, pod, post, settled } from './admission-parts.ts'
import type { Chance } from './random.ts'

/** Each breaks one or more of the pod security standards, or is near to it. */
const VIOLATIONS: readonly ((spec: Any, meta: Any, rand: Chance) => void)[] = [
  (s) => {
    s.hostNetwork = true
  },
  (s, _m, rand) => {
    s.hostPID = true
    if (rand.float() < 0.5) s.hostIPC = true
  },
  (s) => {
    s.volumes = [
      { name: 'h', hostPath: { path: '/' } },
      { name: 'e', emptyDir: {} },
    ]
  },
  (s) => {
    s.volumes = [
      { name: 'n', nfs: { server: 'x', path: '/' } },
      { name: 'g', gitRepo: { repository: 'r' } },
    ]
  },
  (s, _m, rand) => {
    s.containers[0].ports = [{ containerPort: 80, hostPort: rand.pick([80, 0, 8080]) }]
  },
  (s, _m, rand) =>
    (sc(s).capabilities = { add: rand.pick([['NET_ADMIN'], ['CHOWN'], ['NET_BIND_SERVICE'], ['SYS_TIME', 'KILL']]) }),
  (s) => (sc(s).capabilities = { drop: ['ALL'], add: ['NET_BIND_SERVICE'] }),
  (s) => (sc(s).capabilities = { drop: ['ALL'] }),
  (s) => (sc(s).allowPrivilegeEscalation = false),
  (s) => (sc(s).allowPrivilegeEscalation = true),
  (s, _m, rand) => (sc(s).seccompProfile = { type: rand.pick(['Unconfined', 'RuntimeDefault']) }),
  (s, _m, rand) => {
    psc(s).seccompProfile = { type: rand.pick(['Unconfined', 'RuntimeDefault']) }
  },
  (s, _m, rand) => {
    psc(s).runAsNonRoot = rand.pick([true, false])
  },
  (s, _m, rand) => (sc(s).runAsNonRoot = rand.pick([true, false])),
  (s, _m, rand) => {
    psc(s).runAsUser = rand.pick([0, 1000])
  },
  (s) => (sc(s).runAsUser = 0),
  (s, _m, rand) =>
    (sc(s).seLinuxOptions = rand.pick<Any>([
      { type: 'spc_t' },
      { type: 'container_t' },
      { user: 'u' },
      { role: 'r', type: 'x' },
      { level: 's0' },
    ])),
  (s) => {
    psc(s).seLinuxOptions = { user: 'u', role: 'r' }
  },
  (s, _m, rand) => {
    psc(s).sysctls = [
      {
        name: rand.pick([
          'kernel.msgmax',
          'net.ipv4.tcp_syncookies',
          'net.ipv4.tcp_keepalive_time',
          'net.ipv4.ping_group_range',
        ]),
        value: '1',
      },
    ]
  },
  (s, _m, rand) => {
    psc(s).appArmorProfile = rand.pick<Any>([
      { type: 'Unconfined' },
      { type: 'RuntimeDefault' },
      { type: 'Localhost', localhostProfile: 'x' },
    ])
  },
  (s) => (sc(s).appArmorProfile = { type: 'Unconfined' }),
  (_s, m) => {
    m.annotations = { 'container.apparmor.security.beta.kubernetes.io/c0': 'unconfined' }
  },
  (s) => (sc(s).procMount = 'Default'),
  (s) => {
    psc(s).windowsOptions = { hostProcess: true }
    s.hostNetwork = true
  },
  (s) => {
    s.initContainers = [{ name: 'i', image: 'i' }]
  },
  (s) => {
    s.containers.push({ name: 'c9', image: 'i' })
  },
  (s) => {
    s.containers[0].livenessProbe = { httpGet: { port: 80, host: '1.2.3.4' } }
    s.containers[0].lifecycle = { preStop: { tcpSocket: { port: 1, host: 'h' } } }
  },
  (s) => {
    s.os = { name: 'windows' }
  },
  (s) => {
    s.hostUsers = false
  },
]
export const sc = (s: Any): Any => {
  s.containers[0].securityContext ??= {}
  return s.containers[0].securityContext
}
const psc = (s: Any): Any => {
  s.securityContext ??= {}
  return s.securityContext
}

function violating(rand: Chance, name: string): Any {
  const made = pod(name, { containers: [{ name: 'c0', image: 'i' }] })
  if (rand.float() < 0.4) {
    psc(made.spec).runAsNonRoot = true
    psc(made.spec).seccompProfile = { type: 'RuntimeDefault' }
    sc(made.spec).allowPrivilegeEscalation = false
    sc(made.spec).capabilities = { drop: ['ALL'] }
  }
  const wanted = rand.pick([0, 1, 1, 2, 3, 4])
  for (let n = 0; n < wanted; n++) rand.pick(VIOLATIONS)(made.spec, made.metadata, rand)
  return made
}

export function podSecurity(rand: Chance, i: number): Case {
  const labels = (): Record<string, string | null> => {
    const found: Record<string, string> = {}
    for (const mode of ['enforce', 'warn', 'audit']) {
      if (rand.float() < (mode === 'audit' ? 0.2 : 0.65))
        found[`pod-security.kubernetes.io/${mode}`] = rand.pick([
          'baseline',
          'restricted',
          'restricted',
          'privileged',
          ...(rand.float() < 0.1 ? ['strict'] : []),
        ])
      if (rand.float() < 0.3)
        found[`pod-security.kubernetes.io/${mode}-version`] = rand.pick([
          'latest',
          'v1.0',
          'v1.19',
          'v1.23',
          'v1.24',
          'v1.25',
          'v1.29',
          'v1.31',
          'v1.34',
          'v1.35',
          'v1.37',
          'v1.40',
          ...(rand.float() < 0.2 ? ['1.25'] : []),
        ])
    }
    return found
  }
  const template = deployment('d', violating(rand, '').spec)
  return {
    name: `pod security ${i}`,
    steps: [
      ...(rand.float() < 0.3
        ? [post(`${core}/pods`, violating(rand, 'early')), post(`${core}/pods`, violating(rand, 'early2'))]
        : []),
      settled(merge('/api/v1/namespaces/$NS', { metadata: { labels: labels() } })),
      settled(post(`${core}/pods`, violating(rand, 'a'))),
      post(`${core}/pods`, violating(rand, 'b')),
      post(`${core}/pods`, violating(rand, 'c')),
      ...(rand.float() < 0.4 ? [post('/apis/apps/v1/namespaces/$NS/deployments', template)] : []),
      ...(rand.float() < 0.2
        ? [
            post('/apis/batch/v1/namespaces/$NS/cronjobs', {
              apiVersion: 'batch/v1',
              kind: 'CronJob',
              metadata: { name: 'j' },
              spec: {
                schedule: '* * * * *',
                jobTemplate: { spec: { template: { spec: { ...violating(rand, '').spec, restartPolicy: 'Never' } } } },
              },
            }),
          ]
        : []),
      ...(rand.float() < 0.3 ? [merge('/api/v1/namespaces/$NS', { metadata: { labels: labels() } })] : []),
      ...(rand.float() < 0.3 ? [merge(`${core}/pods/a`, { metadata: { labels: { x: 'y' } } })] : []),
      ...(rand.float() < 0.2
        ? [
            merge(`${core}/pods/a/ephemeralcontainers`, {
              spec: { ephemeralContainers: [{ name: 'dbg', image: 'i' }] },
            }),
          ]
        : []),
    ],
  }
}
