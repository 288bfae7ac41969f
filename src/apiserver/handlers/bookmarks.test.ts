import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { createScheme } from '../../api/scheme/scheme.ts'
import type { Clock } from '../../base/clock.ts'
import { builtinReader } from '../endpoints/builtin-reader.ts'
import { createTablePrinter, tablePrinterOf } from './printers/table.ts'

/** What a Kubernetes v1.37.1 sent as the bookmark after the initial events of a watch, as an object (metadata only where there is more), and as a row. */
const recorded: readonly { readonly path: string; readonly object: KubeObject; readonly cells: readonly unknown[] }[] =
  readFileSync(new URL('bookmarks-recorded.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

const print = createTablePrinter({ now: () => 0 } as unknown as Clock)
const scheme = createScheme()

for (const { path, object, cells } of recorded) {
  const [, root, ...rest] = path.split('/')
  const [group, version, resource] = root === 'api' ? ['', ...rest] : rest
  const row = scheme.find(group as string, version as string, resource as string) as ResourceRow
  const annotations = { 'k8s.io/initial-events-end': 'true' }
  const bookmark = () =>
    builtinReader(row).written({ kind: object.kind, apiVersion: object.apiVersion, metadata: { annotations } })

  test(`a bookmark of ${path} has what its type always writes, and is printed as a row`, () => {
    const metadata = { annotations: { ...annotations, ...object.metadata?.annotations } }
    assert.deepEqual(bookmark(), { ...object, metadata })
    const table = print({
      printer: tablePrinterOf(row),
      objects: [bookmark()],
      metadata: { resourceVersion: '1' },
      apiVersion: 'meta.k8s.io/v1',
      includeObject: 'None',
      withColumns: false,
      isList: false,
    })
    assert.deepEqual(table.rows[0]?.cells, cells)
  })
}
