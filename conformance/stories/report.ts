/** The page's section about stories. */
import { readFileSync } from 'node:fs'
import { knownDifferences } from './compare.ts'
import { readRecorded } from './recordings.ts'
import { subjects } from './subjects.ts'

export interface Figures {
  /** Stories that are as recorded without any known difference. */
  readonly asRecorded: number
}

export const readFigures = (): Figures => JSON.parse(readFileSync(new URL('figures.json', import.meta.url), 'utf8'))

export function storiesReport(): string {
  const all = Object.entries(subjects).map(([subject, stories]) => ({
    subject,
    names: Object.keys(stories),
    recorded: readRecorded(subject),
  }))
  const count = all.reduce((sum, { names }) => sum + names.length, 0)
  const times = all.flatMap(({ names, recorded }) => names.map((name) => recorded[name]?.times ?? 0))
  return `${count} stories (\`conformance/stories/subjects\`) of what users do to workloads, Jobs, autoscalers, quotas, policies, budgets, Services, nodes, claims, devices, accounts
and namespaces were played to a Kubernetes v1.37.1 with KWOK's nodes, each ${Math.min(...times)} to ${Math.max(...times)} times, and are played to skiff in simulated time. Compared are the
writes of each component with what they send and how they are answered, the Events with text and count, the objects in the end with the managers of
their fields, and what the user is told. Not compared are the states between: how often a status is written on the way and what it says, slices and
Endpoints being written, refusals being repeated; and what the real cluster did not always do alike is chance (\`varies\` in \`conformance/stories/recordings\`).
\`npm test\` plays some, \`npm run check:long\` all. Of them ${readFigures().asRecorded} are wholly as recorded, a number that may only rise; the others are but for differences
that \`conformance/stories/differing.json\` names:

${knownDifferences.map(({ story, why }) => `- ${story.split('|').join(', ')}: ${why}`).join('\n')}

KWOK's part is played by stages here, the user's requests take 20 ms and the components' 3; of a story that differs twelve seeds are tried, since uids and small delays decide
which of equal pods is chosen, and whether a component has seen what it wrote by the time it is answered (watches are 0, 2 or 5 ms late); the later six
begin at another moment of the 15 s after which all claims are looked at.

\`npm run conformance -- stories record --kubeconfig FILE --audit-log FILE --times 2\` plays them to any cluster with KWOK's nodes (\`conformance/stories/main.ts\`
says what it must be like), \`… stories ask\` compares another cluster with what is recorded, \`… stories play --story PATTERN\` this checkout.`
}
