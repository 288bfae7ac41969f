/**
 * The diagrams of docs/deletion.md: what `skiff timeline --cascade` tells of each cascade, and its pictures. Made anew and written by
 * `node test/timeline/deletion-page.ts --write`; without it the command says what is out of date.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import type { KeptRecord } from '../../src/api/journal.ts'
import type { KubeObject } from '../../src/api/object.ts'
import { type Cluster, startCluster } from '../../src/cluster/index.ts'
import { timelineText } from '../../src/inspect/timeline/report.ts'
import { timelineSvg } from '../../src/inspect/timeline/svg.ts'
import { tellTimeline } from '../../src/inspect/timeline/timeline-of.ts'

const PAGE = new URL('../../docs/deletion.md', import.meta.url)
const PICTURES = new URL('../../docs/pictures/', import.meta.url)

const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' }
const POLICIES = ['Background', 'Foreground', 'Orphan'] as const
type Policy = (typeof POLICIES)[number]

/** Its pod's container ignores SIGTERM, so that the grace period is seen. */
const deployment = (name: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name }, annotations: { 'sim.skiff.dev/ignore-sigterm': 'true' } },
      spec: { containers: [{ name: 'c', image: 'i:1' }] },
    },
  },
})

/** By the path under docs/ of what is written there. */
export async function deletionPage(): Promise<ReadonlyMap<string, string>> {
  const cluster = await startCluster({ storage: 'memory', clock: 'manual' })
  try {
    const files = new Map<string, string>()
    let page = readFileSync(PAGE, 'utf8')
    for (const policy of POLICIES) {
      const told = tellTimeline(
        await recordsOf(cluster, policy),
        { ...DEPLOYMENTS, namespace: 'default', name: 'a', cascade: true },
        'journal',
      )
      if (told === undefined) throw new Error(`the journal tells nothing of ${policy}`)
      const name = policy.toLowerCase()
      files.set(`pictures/deletion-${name}.svg`, timelineSvg(told))
      page = withBlock(
        page,
        name,
        [
          '```',
          timelineText(told).trimEnd(),
          '```',
          '',
          `![the same as a picture](pictures/deletion-${name}.svg)`,
        ].join('\n'),
      )
    }
    files.set('deletion.md', page)
    return files
  } finally {
    await cluster.stop()
  }
}

async function recordsOf(cluster: Cluster, policy: Policy): Promise<KeptRecord[]> {
  const own = cluster.client.resource(DEPLOYMENTS).namespace('default')
  const { body: before } = await cluster.client.raw('GET', '/skiff.dev/journal')
  await own.create(deployment('a'))
  await cluster.clock.runUntilIdle()
  await own.delete('a', { propagationPolicy: policy })
  await cluster.clock.runUntilIdle()
  const { body } = await cluster.client.raw('GET', `/skiff.dev/journal?after=${JSON.parse(before).revision}`)
  const records: KeptRecord[] = JSON.parse(body).records
  const sets = cluster.client.resource({ ...DEPLOYMENTS, resource: 'replicasets' }).namespace('default')
  await sets.deleteCollection()
  await cluster.clock.runUntilIdle()
  return named(records)
}

/** With names that can be read, and times and uids that are the same each time. */
function named(records: readonly KeptRecord[]): KeptRecord[] {
  const began = records[0]?.time ?? 0
  const uids = new Map<string, string>()
  const text = JSON.stringify(records)
    .replace(/\ba-[a-z0-9]{6,10}-[a-z0-9]{5}\b/g, 'a-1-x')
    .replace(/\ba-[a-z0-9]{6,10}\b/g, 'a-1')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (uid) => {
      const known = uids.get(uid) ?? `00000000-0000-4000-8000-${String(uids.size + 1).padStart(12, '0')}`
      uids.set(uid, known)
      return known
    })
  const same: KeptRecord[] = JSON.parse(text)
  return same.map((record, at) => ({
    ...record,
    revision: 100 + at,
    time: Date.UTC(2026, 0, 1) + Math.round((record.time - began) / 1000) * 1000,
  }))
}

function withBlock(page: string, name: string, text: string): string {
  const begin = `<!-- timeline ${name}: made by test/timeline/deletion-page.ts -->\n`
  const end = '<!-- end of timeline -->'
  const at = page.indexOf(begin)
  const to = page.indexOf(end, at)
  if (at < 0 || to < 0) throw new Error(`docs/deletion.md has no place for the timeline ${name}`)
  return `${page.slice(0, at + begin.length)}\n${text}\n\n${page.slice(to)}`
}

/** Those that are other than they were made. */
export function outOfDate(files: ReadonlyMap<string, string>): string[] {
  return [...files].flatMap(([path, text]) => (readDocs(path) === text ? [] : [path]))
}

function readDocs(path: string): string {
  try {
    return readFileSync(new URL(path, PAGE), 'utf8')
  } catch {
    return ''
  }
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const files = await deletionPage()
  const paths = outOfDate(files)
  if (argv.includes('--write')) {
    mkdirSync(PICTURES, { recursive: true })
    for (const path of paths) writeFileSync(new URL(path, PAGE), files.get(path) ?? '')
    console.log(`written: ${paths.join(', ') || 'nothing'}`)
  } else if (paths.length > 0) {
    console.error(`out of date: ${paths.join(', ')}; run node test/timeline/deletion-page.ts --write`)
    process.exitCode = 1
  }
}
