/** What every component tells of what it is: its release, and the feature gates as they are by default, which is how skiff behaves. */
import { BUILD } from '../apiserver/handlers/version.ts'
import type { Metrics } from '../base/metrics.ts'
import { GATES } from './gate-table.ts'

export function buildMetrics(metrics: Metrics | undefined): void {
  if (metrics === undefined) return
  const { buildDate, compiler, gitCommit, gitTreeState, gitVersion, goVersion, major, minor, platform } = BUILD
  const labels = ['build_date', 'compiler', 'git_commit', 'git_tree_state', 'git_version', 'go_version']
  metrics
    .gauge('kubernetes_build_info', 'The release, by its labels; always 1.', [...labels, 'major', 'minor', 'platform'])
    .child(buildDate, compiler, gitCommit, gitTreeState, gitVersion, goVersion, major, minor, platform)
    .set(1)
  metrics.constant(
    'kubernetes_feature_enabled',
    'Feature gates by name and stage: 1 for one that is on.',
    ['name', 'stage'],
    featureGates,
  )
}

function* featureGates(): Iterable<readonly [number, string, string]> {
  for (const line of GATES.trim().split('\n')) {
    const [name = '', stage = '', usual] = line.split(' ')
    yield [usual === 'on' ? 1 : 0, name, stage === 'ga' ? '' : stage.toUpperCase()]
  }
}
