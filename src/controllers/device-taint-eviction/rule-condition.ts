/** The condition by which a DeviceTaintRule tells what it does to pods, in the words of Kubernetes. */

export interface RuleState {
  readonly effect: string
  /** Devices in slices that the rule selects, and those of them that claims have. */
  readonly published: number
  readonly allocated: number
  /** Keys of pods that have to go, or would if the effect was NoExecute. */
  readonly pods: readonly string[]
  readonly evicted: number
}

export interface RuleProgress {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

export function evictionProgressOf({ effect, published, allocated, pods, evicted }: RuleState): RuleProgress {
  const namespaces = counted(new Set(pods.map((key) => key.split('/')[0])).size, 'namespace')
  if (effect === 'None') {
    const found = `${counted(published, 'published device')} selected. ${counted(allocated, 'allocated device')} selected.`
    const would = `${counted(pods.length, 'pod')} would be evicted in ${namespaces} if the effect was NoExecute.`
    const once = 'This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.'
    return { status: 'False', reason: 'NoEffect', message: `${found} ${would} ${once}` }
  }
  if (effect !== 'NoExecute')
    return { status: 'False', reason: 'OtherEffect', message: 'Eviction only happens for the NoExecute effect.' }
  if (pods.length > 0) {
    const need = pods.length === 1 ? 'pod needs' : 'pods need'
    const message = `${pods.length} ${need} to be evicted in ${namespaces}.`
    return { status: 'True', reason: 'PodsPendingEviction', message }
  }
  if (evicted === 0) return { status: 'False', reason: 'NotStarted', message: '' }
  const message = `${counted(evicted, 'pod')} evicted since starting the controller.`
  return { status: 'False', reason: 'Completed', message }
}
