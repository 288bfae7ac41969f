import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseFlags } from './flags.ts'
import { KUBE_CONTROLLER_MANAGER_FLAGS } from './kube-controller-manager-flags.ts'
import { KUBE_SCHEDULER_FLAGS } from './kube-scheduler-flags.ts'
import { usualOf } from './serving.ts'
import { toldFlags } from './told-flags.ts'

/** Command lines and what a v1.37.1 told at /flagz. */
const answers: readonly { component: string; args: readonly string[]; flags: Record<string, string> }[] = JSON.parse(
  readFileSync(new URL('flagz-answers.json', import.meta.url), 'utf8'),
)
const SERVERS = {
  'kube-scheduler': { table: KUBE_SCHEDULER_FLAGS, port: 10259 },
  'kube-controller-manager': { table: KUBE_CONTROLLER_MANAGER_FLAGS, port: 10257 },
}

for (const { component, args, flags } of answers)
  test(`every flag of ${component} is told with the value that it has, as Kubernetes tells it: ${args.length} given`, () => {
    const { table, port } = SERVERS[component as keyof typeof SERVERS]
    const values = parseFlags(component, table, args)
    assert.deepEqual(toldFlags(table, values, usualOf({ name: component, port })), flags)
  })
