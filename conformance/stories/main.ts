/**
 * Stories of controllers: what a real cluster's components did, and what ours do.
 *
 *   npm run conformance -- stories record --kubeconfig FILE --audit-log FILE [--story PATTERN] [--times 2] [--at-once 8]
 *   npm run conformance -- stories play [--story PATTERN]      ours, in simulated time by several seeds, against what is recorded
 *   npm run conformance -- stories ask --kubeconfig FILE --audit-log FILE [--story PATTERN]   another cluster against what is recorded
 *
 * `record` adds to what is recorded of a story before; with `--anew` it is forgotten. The cluster's nodes are KWOK's (two or more, of much
 * room), which must leave alone the ones that have no annotation `kwok.x-k8s.io/node: fake`; its audit log has the bodies of writes
 * (`npm run conformance -- stories policy` prints the policy), and its controllers are alone with it.
 */
import { parseArgs } from 'node:util'
import { auditPolicy } from './audited.ts'
import { judge, lineOf } from './compare.ts'
import { factsOf } from './facts.ts'
import { playLive } from './live.ts'
import { type Recorded, readRecorded, withPlaying, writeRecorded } from './recordings.ts'
import type { Story } from './story.ts'
import { subjects } from './subjects.ts'
import { type Judgement, judgeStory } from './try-seeds.ts'

const { values, positionals } = parseArgs({
  args: process.argv.slice(process.argv[2] === 'stories' ? 3 : 2),
  allowPositionals: true,
  options: {
    kubeconfig: { type: 'string' },
    'audit-log': { type: 'string' },
    story: { type: 'string', default: '.*' },
    times: { type: 'string', default: '1' },
    'at-once': { type: 'string', default: '8' },
    anew: { type: 'boolean', default: false },
  },
})
const [command = 'play'] = positionals
const pattern = new RegExp(`^(${values.story})$`)
const chosen = new Map<string, Story>()
const subjectOf = new Map<string, string>()
for (const [subject, stories] of Object.entries(subjects))
  for (const [name, story] of Object.entries(stories)) {
    if (!pattern.test(name)) continue
    chosen.set(name, story)
    subjectOf.set(name, subject)
  }
if (chosen.size === 0) {
  console.error(`stories: none is named as ${values.story} (a regular expression of whole names)`)
  process.exit(2)
}
const say = (text: string) => console.log(text)

function recordedOf(name: string): Recorded | undefined {
  return readRecorded(subjectOf.get(name) ?? '')[name]
}

async function tell(name: string, judged: (recorded: Recorded) => Judgement | Promise<Judgement>): Promise<void> {
  const recorded = recordedOf(name)
  if (recorded === undefined) {
    say(`${name}: not recorded`)
    return
  }
  const { told, known } = await judged(recorded)
  say(`${name}: ${told.length === 0 ? 'as recorded' : ''}${known.length > 0 ? ` (${known.length} known)` : ''}`)
  for (const one of told) say(`  ${lineOf(one)}`)
}

async function live(played: (name: string, story: Parameters<typeof factsOf>[0]) => void): Promise<void> {
  const { kubeconfig, 'audit-log': auditLog } = values
  if (kubeconfig === undefined || auditLog === undefined) {
    console.error(`${command} needs --kubeconfig FILE and --audit-log FILE`)
    process.exit(2)
  }
  await playLive(chosen, { kubeconfig, auditLog, atOnce: Number(values['at-once']), played, say })
}

switch (command) {
  case 'policy':
    say(JSON.stringify(auditPolicy, undefined, 1))
    break
  case 'record': {
    const begun = new Set<string>()
    for (let time = 0; time < Number(values.times); time++)
      await live((name, played) => {
        const subject = subjectOf.get(name) as string
        const all = readRecorded(subject)
        const before = values.anew && !begun.has(name) ? undefined : all[name]
        begun.add(name)
        writeRecorded(subject, { ...all, [name]: withPlaying(before, factsOf(played)) })
        say(
          `${name}: ${played.writes.length} writes, ${played.objects.length} objects ${[...played.timeouts, ...played.notes].join(' | ')}`,
        )
      })
    break
  }
  case 'ask':
    await live((name, played) => void tell(name, (recorded) => judge(name, recorded, factsOf(played))))
    break
  case 'play':
    for (const [name, story] of chosen) await tell(name, (recorded) => judgeStory(name, story, recorded))
    break
  default:
    console.error(`stories: record, ask, play or policy, not ${command}`)
    process.exit(2)
}
process.exit(process.exitCode ?? 0)
