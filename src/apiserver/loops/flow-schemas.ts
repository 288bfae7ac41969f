/** Says of each FlowSchema whether the priority level that it names is there: the condition Dangling. */
import type { FlowSchema } from '../../api/generated/types.ts'
import type { Fields } from '../../api/object.ts'
import { isNotFound } from '../../api/status.ts'
import { formatTime } from '../../base/clock.ts'
import { loopbackOf } from '../loopback.ts'
import { type LoopOptions, startLoop } from './settling.ts'

const FOLLOWED = ['flowschemas', 'prioritylevelconfigurations']
const GROUP = 'flowcontrol.apiserver.k8s.io'
const MANAGER = 'api-priority-and-fairness-config-consumer-v1'

export function startFlowSchemaLoop(options: LoopOptions): void {
  const { runtime, reads } = options
  const work = async () => {
    for (const schema of reads.list<FlowSchema>(GROUP, 'flowschemas')) {
      const level = schema.spec?.priorityLevelConfiguration?.name ?? ''
      const found = reads.get(GROUP, 'prioritylevelconfigurations', '', level) !== undefined
      const present = schema.status?.conditions?.find(({ type }) => type === 'Dangling')
      const condition = danglingOf(level, found)
      if (present?.status === condition.status && present.message === condition.message) continue
      await apply(options, schema, { ...condition, lastTransitionTime: formatTime(runtime.clock.now()) })
    }
  }
  startLoop(options, { name: 'flow schemas', followed: FOLLOWED, work, settleMs: 50, retryMs: 1000 })
}

function danglingOf(level: string, found: boolean) {
  const named = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`
  return found
    ? { type: 'Dangling', status: 'False', reason: 'Found', message: `${named} and it exists` }
    : { type: 'Dangling', status: 'True', reason: 'NotFound', message: `${named} but there is no such object` }
}

async function apply({ handler, signal }: LoopOptions, schema: FlowSchema, condition: Fields): Promise<void> {
  const { name = '' } = schema.metadata
  const object = {
    apiVersion: `${GROUP}/v1`,
    kind: 'FlowSchema',
    metadata: { name },
    status: { conditions: [condition] },
  }
  try {
    await loopbackOf(handler, signal)('PATCH', `/apis/${GROUP}/v1/flowschemas/${name}/status`, object, MANAGER)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
