import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Json } from '../api/object.ts'
import { controllerManagerConfigz } from './controller-manager-configz.ts'
import { parseFlags, readFlags } from './flags.ts'
import { KUBE_CONTROLLER_MANAGER_FLAGS } from './kube-controller-manager-flags.ts'
import { KUBE_SCHEDULER_FLAGS } from './kube-scheduler-flags.ts'
import { schedulerConfiguration } from './scheduler-configuration/scheduler-settings.ts'
import { usualOf } from './serving.ts'

interface Answer {
  readonly component: 'kube-controller-manager' | 'kube-scheduler'
  readonly args: readonly string[]
  /** Of --config. */
  readonly file?: string
  readonly told: Json
}

/** Command lines, with a configuration file or without, and what a v1.37.1 told at /configz on 2026-11-28. */
const answers: readonly Answer[] = JSON.parse(readFileSync(new URL('configz-answers.json', import.meta.url), 'utf8'))

for (const [i, { component, args, file, told }] of answers.entries())
  test(`${component} tells its configuration as Kubernetes tells it (${i})`, (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'skiff-configz-'))
    t.after(() => rmSync(directory, { recursive: true }))
    const config = join(directory, 'config.yaml')
    if (file !== undefined) writeFileSync(config, file)
    const all = file === undefined ? args : [...args, `--config=${config}`]
    const isScheduler = component === 'kube-scheduler'
    const table = isScheduler ? KUBE_SCHEDULER_FLAGS : KUBE_CONTROLLER_MANAGER_FLAGS
    const flags = readFlags(table, parseFlags(component, table, all))
    const found = isScheduler
      ? schedulerConfiguration(flags).configz()
      : controllerManagerConfigz(flags, usualOf({ name: component, port: 10257 }))
    assert.deepEqual(JSON.parse(JSON.stringify(found)), told)
  })
