/**
 * Services and their address families (API concept: IPv4/IPv6 dual-stack): which families, policies and cluster IPs go together, what a
 * server of two ranges (or of IPv6 alone) gives, and what becomes of a second address when a Service changes.
 * Asked of servers that were started with other ranges than the other sets' (sets.ts).
 */
import type { Case, Step } from '../recording.ts'
import { DELETE, GET, PATCH, POST, PUT } from './hostile-requests.ts'
import { A, J, M } from './semantic-parts.ts'

// biome-ignore lint/suspicious/noExplicitAny: Services, broken on purpose
type Any = any

const SERVICES = '/api/v1/namespaces/$NS/services'
const ADDRESSES = '/apis/networking.k8s.io/v1/ipaddresses'

const FAMILIES: readonly (readonly string[] | undefined)[] = [
  undefined,
  ['IPv4'],
  ['IPv6'],
  ['IPv4', 'IPv6'],
  ['IPv6', 'IPv4'],
]
const POLICIES: readonly (string | undefined)[] = [undefined, 'SingleStack', 'PreferDualStack', 'RequireDualStack']
const [V4, V6, V46, V64] = FAMILIES.slice(1) as [Any, Any, Any, Any]
const [SINGLE, PREFER, REQUIRE] = POLICIES.slice(1) as [string, string, string]

/** Fields of which `undefined` is none. */
const service = (spec: Any, name = 's'): Any => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { ports: [{ port: 80 }], selector: { a: 'b' }, ...spec },
})
const TYPES: Readonly<Record<string, Any>> = {
  ClusterIP: {},
  NodePort: { type: 'NodePort' },
  LoadBalancer: { type: 'LoadBalancer' },
  headless: { clusterIP: 'None' },
  'headless without selector': { clusterIP: 'None', selector: undefined },
  'without selector': { selector: undefined },
  ExternalName: { type: 'ExternalName', externalName: 'example.com', ports: undefined, selector: undefined },
}

const madeOfType = (): readonly Case[] =>
  Object.entries(TYPES).map(([name, type]) => ({
    name: `families of a new ${name}`,
    steps: POLICIES.flatMap((ipFamilyPolicy) =>
      FAMILIES.map((ipFamilies) => POST(`${SERVICES}?dryRun=All`, service({ ...type, ipFamilyPolicy, ipFamilies }))),
    ),
  }))

/** The lower parts of both ranges are given only to Services that ask for an address there: each case that writes has addresses of its own. */
const four = (n: number) => `10.96.0.${n}`
const six = (n: number) => `fd00:10:96::${n.toString(16)}`
const LISTS: readonly Any[] = [
  [four(20)],
  [six(20)],
  [four(20), six(20)],
  [six(20), four(20)],
  [four(20), four(21)],
  [six(20), six(21)],
  [four(20), six(20), four(21)],
  ['None'],
  ['None', six(20)],
  [four(20), 'None'],
  ['fd00:99::1'],
  ['192.168.1.1', six(20)],
  [four(20), 'fd00:99::1'],
  ['fd00:10:96::'],
  ['fd00:10:96::ffff'],
  ['10.96.0.0'],
  ['10.96.255.255'],
  [four(1), six(20)],
  [six(1)],
  ['FD00:10:96::14'],
  ['fd00:10:96:0:0:0:0:14'],
  ['::ffff:10.96.0.20'],
  ['fe80::1%eth0'],
  ['x', six(20)],
]

const givenAddresses = (): readonly Case[] => [
  ...LISTS.map((clusterIPs) => ({
    name: `cluster IPs ${JSON.stringify(clusterIPs)}`,
    steps: [
      ...POLICIES.map((ipFamilyPolicy) =>
        POST(`${SERVICES}?dryRun=All`, service({ clusterIP: clusterIPs[0], clusterIPs, ipFamilyPolicy })),
      ),
      ...FAMILIES.slice(1).map((ipFamilies) =>
        POST(`${SERVICES}?dryRun=All`, service({ clusterIP: clusterIPs[0], clusterIPs, ipFamilies })),
      ),
      POST(`${SERVICES}?dryRun=All`, service({ clusterIPs })),
    ],
  })),
  ...[four(22), six(22), 'fd00:99::1', '192.168.1.1', '', 'x'].map((clusterIP) => ({
    name: `cluster IP ${JSON.stringify(clusterIP)}`,
    steps: POLICIES.flatMap((ipFamilyPolicy) =>
      [undefined, V4, V6, V46].map((ipFamilies) =>
        POST(`${SERVICES}?dryRun=All`, service({ clusterIP, ipFamilyPolicy, ipFamilies })),
      ),
    ),
  })),
  {
    name: 'families that are none',
    steps: [
      ...[['IPv5'], ['IPv4', 'IPv4'], ['IPv6', 'IPv6'], ['IPv4', 'IPv6', 'IPv4'], [''], [], 'IPv4', [4]].map(
        (ipFamilies) => POST(`${SERVICES}?dryRun=All`, service({ ipFamilies })),
      ),
      ...['', 'Both', 'singlestack', 1].map((ipFamilyPolicy) =>
        POST(`${SERVICES}?dryRun=All`, service({ ipFamilyPolicy })),
      ),
    ],
  },
]

const taken = (): readonly Case[] =>
  (
    [
      [four(31), undefined],
      [six(31), undefined],
      [four(32), six(32)],
      [six(33), four(33)],
    ] as const
  ).map(([first, second]) => {
    const clusterIPs = second === undefined ? [first] : [first, second]
    const ipFamilyPolicy = second === undefined ? SINGLE : REQUIRE
    const both = (name: string, ips: readonly string[], policy = ipFamilyPolicy) =>
      POST(SERVICES, service({ clusterIP: ips[0], clusterIPs: ips, ipFamilyPolicy: policy }, name))
    return {
      name: `addresses that are taken: ${clusterIPs.join(', ')}`,
      steps: [
        both('s', clusterIPs),
        both('again', clusterIPs),
        ...(second === undefined
          ? []
          : [
              both('first', [first], SINGLE),
              both('second', [second], SINGLE),
              both('turned', [second, first]),
              both('one-free', [first.includes(':') ? six(40) : four(40), second]),
            ]),
        POST(`${SERVICES}?dryRun=All`, service({ clusterIP: first, clusterIPs, ipFamilyPolicy }, 'dry')),
        DELETE(`${SERVICES}/s`),
        both('again', clusterIPs),
        DELETE(`${SERVICES}/again`),
      ],
    }
  })

const STARTS: Readonly<Record<string, Any>> = {
  'one family': {},
  'IPv4 alone': { ipFamilies: V4 },
  'IPv6 alone': { ipFamilies: V6 },
  'preferably two': { ipFamilyPolicy: PREFER },
  'two, IPv6 first': { ipFamilyPolicy: REQUIRE, ipFamilies: V64 },
  'two of a NodePort': { ipFamilyPolicy: REQUIRE, type: 'NodePort' },
  headless: { clusterIP: 'None' },
  'headless, two': { clusterIP: 'None', ipFamilyPolicy: REQUIRE },
  'headless without selector': { clusterIP: 'None', selector: undefined },
  ExternalName: TYPES['ExternalName'],
}

const patch = (spec: Any): Step => PATCH(`${SERVICES}/s?dryRun=All`, M, { spec })

const changed = (): readonly Case[] =>
  Object.entries(STARTS).map(([name, spec]) => ({
    name: `changes of a Service: ${name}`,
    steps: [
      POST(SERVICES, service(spec)),
      ...POLICIES.flatMap((ipFamilyPolicy) =>
        FAMILIES.map((ipFamilies) =>
          patch({
            ...(ipFamilyPolicy === undefined ? {} : { ipFamilyPolicy }),
            ...(ipFamilies === undefined ? {} : { ipFamilies }),
          }),
        ),
      ),
      ...[SINGLE, PREFER, REQUIRE].map((ipFamilyPolicy) => patch({ ipFamilyPolicy, ipFamilies: null })),
      ...[SINGLE, PREFER, REQUIRE].map((ipFamilyPolicy) =>
        patch({ ipFamilyPolicy, ipFamilies: null, clusterIPs: null }),
      ),
      patch({ ipFamilyPolicy: null }),
      patch({ ipFamilies: null }),
      patch({ ipFamilyPolicy: null, ipFamilies: null }),
      patch({ ipFamilyPolicy: null, ipFamilies: null, clusterIPs: null, clusterIP: null }),
      patch({ clusterIP: '' }),
      patch({ clusterIP: 'None' }),
      patch({ clusterIP: 'None', clusterIPs: ['None'] }),
      patch({ clusterIP: four(50) }),
      patch({ clusterIP: six(50) }),
      patch({ clusterIPs: [four(50), six(50)] }),
      patch({ clusterIP: four(50), clusterIPs: [four(50), six(50)], ipFamilyPolicy: REQUIRE }),
      patch({ clusterIP: six(50), clusterIPs: [six(50), four(50)], ipFamilyPolicy: REQUIRE }),
      ...[four(51), six(51)].map((second) =>
        PATCH(`${SERVICES}/s?dryRun=All`, J, [
          { op: 'add', path: '/spec/clusterIPs/-', value: second },
          { op: 'replace', path: '/spec/ipFamilyPolicy', value: REQUIRE },
        ]),
      ),
      PATCH(`${SERVICES}/s?dryRun=All`, J, [{ op: 'remove', path: '/spec/clusterIPs/1' }]),
      PATCH(`${SERVICES}/s?dryRun=All`, J, [
        { op: 'remove', path: '/spec/ipFamilies/1' },
        { op: 'replace', path: '/spec/ipFamilyPolicy', value: SINGLE },
      ]),
      PATCH(`${SERVICES}/s?dryRun=All`, J, [
        { op: 'remove', path: '/spec/clusterIPs/1' },
        { op: 'remove', path: '/spec/ipFamilies/1' },
        { op: 'replace', path: '/spec/ipFamilyPolicy', value: SINGLE },
      ]),
      patch({ type: 'ExternalName', externalName: 'example.com' }),
      patch({ type: 'ExternalName', externalName: 'example.com', clusterIP: null, clusterIPs: null }),
      patch({
        ...{ type: 'ExternalName', externalName: 'example.com', clusterIP: null, clusterIPs: null },
        ...{ ipFamilies: null, ipFamilyPolicy: null },
      }),
      patch({ type: 'NodePort' }),
      patch({ type: 'ClusterIP', ports: [{ port: 80 }] }),
      ...POLICIES.slice(1).map((ipFamilyPolicy) => patch({ type: 'NodePort', ports: [{ port: 80 }], ipFamilyPolicy })),
      PUT(`${SERVICES}/s?dryRun=All`, service({ ...spec })),
      PUT(`${SERVICES}/s?dryRun=All`, service({})),
      PUT(`${SERVICES}/s?dryRun=All`, service({ ipFamilyPolicy: PREFER })),
      PUT(`${SERVICES}/s?dryRun=All`, service({ ipFamilyPolicy: SINGLE })),
      PUT(`${SERVICES}/s?dryRun=All`, service({ clusterIP: 'None' })),
      PUT(`${SERVICES}/s?dryRun=All`, service({ selector: undefined })),
      DELETE(`${SERVICES}/s`),
    ],
  }))

const second = (step: number): Step => ({ ...GET(`${ADDRESSES}/{{${step}.spec.clusterIPs.1}}`), until: '"IPAddress"' })
const gone = (step: number): Step => ({ ...GET(`${ADDRESSES}/{{${step}.spec.clusterIPs.1}}`), until: '"NotFound"' })
const write = (spec: Any): Step => PATCH(`${SERVICES}/s`, M, { spec })

/** `several`: the server has both families, so that second addresses come. */
const walked = (several: boolean): readonly Case[] => [
  {
    name: 'a second address comes, and goes, and comes again',
    steps: [
      POST(SERVICES, service({ clusterIP: four(60) })),
      write({ ipFamilyPolicy: PREFER }),
      ...(several ? [second(1)] : []),
      GET(`${ADDRESSES}/${four(60)}`),
      write({ ipFamilyPolicy: SINGLE }),
      ...(several ? [gone(1)] : []),
      write({ ipFamilyPolicy: REQUIRE, ipFamilies: V46, clusterIPs: [four(60), six(60)] }),
      ...(several ? [{ ...GET(`${ADDRESSES}/${six(60)}`), until: '"IPAddress"' }] : []),
      POST(SERVICES, service({ clusterIP: six(60) }, 'other')),
      write({ ipFamilyPolicy: SINGLE }),
      POST(SERVICES, service({ clusterIP: six(60) }, 'other')),
      write({ ipFamilyPolicy: REQUIRE, ipFamilies: V46, clusterIPs: [four(60), six(60)] }),
      DELETE(`${SERVICES}/s`),
      DELETE(`${SERVICES}/other`),
      { ...GET(`${ADDRESSES}/${six(60)}`), until: '"NotFound"' },
    ],
  },
  {
    name: 'types change under two addresses',
    steps: [
      POST(SERVICES, service({ ipFamilyPolicy: REQUIRE })),
      write({ type: 'NodePort' }),
      write({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' }),
      write({ type: 'ExternalName', externalName: 'example.com' }),
      GET(`${SERVICES}/s`),
      write({ type: 'ClusterIP', externalName: null }),
      write({ ipFamilyPolicy: PREFER }),
      write({ type: 'ExternalName', externalName: 'example.com' }),
      write({ type: 'ClusterIP', externalName: null, ipFamilyPolicy: REQUIRE, ipFamilies: V64 }),
      DELETE(`${SERVICES}/s`),
    ],
  },
  {
    name: 'headless with and without selector',
    steps: [
      POST(SERVICES, service({ clusterIP: 'None' })),
      write({ ipFamilyPolicy: PREFER }),
      write({ ipFamilyPolicy: SINGLE }),
      write({ selector: null }),
      write({ ipFamilyPolicy: REQUIRE }),
      write({ selector: { a: 'b' } }),
      write({ ipFamilyPolicy: SINGLE, ipFamilies: V4 }),
      write({ ipFamilyPolicy: SINGLE, ipFamilies: V6 }),
      DELETE(`${SERVICES}/s`),
    ],
  },
  {
    name: 'applied with families',
    steps: [
      PATCH(`${SERVICES}/s?fieldManager=f`, A, service({ ipFamilyPolicy: PREFER })),
      PATCH(`${SERVICES}/s?fieldManager=f`, A, service({ ipFamilyPolicy: SINGLE })),
      PATCH(`${SERVICES}/s?fieldManager=f`, A, service({ ipFamilyPolicy: REQUIRE, ipFamilies: V46 })),
      PATCH(`${SERVICES}/s?fieldManager=f`, A, service({ ipFamilyPolicy: SINGLE, ipFamilies: V4 })),
      PATCH(`${SERVICES}/s?fieldManager=f`, A, service({})),
      GET(`${SERVICES}/s`),
      DELETE(`${SERVICES}/s`),
    ],
  },
  {
    name: 'written back as read',
    steps: [
      POST(SERVICES, service({ ipFamilyPolicy: PREFER })),
      PUT(
        `${SERVICES}/s`,
        service({
          ipFamilyPolicy: PREFER,
          clusterIP: '{{0.spec.clusterIPs.0}}',
          clusterIPs: ['{{0.spec.clusterIPs.0}}', '{{0.spec.clusterIPs.1}}'],
        }),
      ),
      PUT(
        `${SERVICES}/s`,
        service({
          ipFamilyPolicy: SINGLE,
          clusterIP: '{{0.spec.clusterIPs.0}}',
          clusterIPs: ['{{0.spec.clusterIPs.0}}'],
        }),
      ),
      PUT(`${SERVICES}/s`, service({ ipFamilyPolicy: PREFER, clusterIP: '{{0.spec.clusterIPs.0}}' })),
      DELETE(`${SERVICES}/s`),
    ],
  },
]

const otherFields = (): readonly Case[] => [
  {
    name: 'addresses of both families in other fields',
    steps: [
      ...[
        { externalIPs: ['2001:db8::1'] },
        { externalIPs: ['192.0.2.1', '2001:db8::1'] },
        { externalIPs: ['fe80::1'] },
        { externalIPs: ['::1'] },
        { externalIPs: ['2001:DB8::1'] },
        { type: 'LoadBalancer', loadBalancerSourceRanges: ['2001:db8::/32', '192.0.2.0/24'] },
        { type: 'LoadBalancer', loadBalancerSourceRanges: ['2001:db8::1/32'] },
        { type: 'LoadBalancer', loadBalancerIP: '2001:db8::7' },
      ].map((spec) => POST(`${SERVICES}?dryRun=All`, service(spec))),
    ],
  },
  {
    name: 'a balancer with addresses of both families',
    steps: [
      POST(SERVICES, service({ type: 'LoadBalancer', ipFamilyPolicy: PREFER })),
      PATCH(`${SERVICES}/s/status`, M, {
        status: {
          loadBalancer: {
            ingress: [
              { ip: '192.0.2.9', ipMode: 'VIP' },
              { ip: '2001:db8::9', ipMode: 'VIP' },
            ],
          },
        },
      }),
      { ...GET(`${SERVICES}/s`), h: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' } },
      DELETE(`${SERVICES}/s`),
    ],
  },
  {
    name: "the cluster's own",
    ns: false,
    steps: [
      { ...GET('/apis/networking.k8s.io/v1/servicecidrs'), until: '"Ready"' },
      ...[four(1), six(1)].map((name) => GET(`${ADDRESSES}/${name}`)),
    ],
  },
]

/** `several`: for a server of both families. */
export const familyCases = (several: boolean): readonly Case[] => [
  ...madeOfType(),
  ...givenAddresses(),
  ...taken(),
  ...changed(),
  ...walked(several),
  ...otherFields(),
]
