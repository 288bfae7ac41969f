/** By which selector each autoscaler's target finds its pods: pods under two autoscalers would be scaled to and fro. */
import type { Pod } from '../../api/generated/types.ts'
import type { CompiledSelector } from '../../api/objects/label-selector.ts'
import { splitKey } from '../../client/store.ts'

export interface TargetSelectors {
  set(key: string, selector: CompiledSelector): void
  delete(key: string): void
  /** Keys of the autoscalers of that namespace whose selectors meet one of the pods. */
  over(namespace: string, pods: readonly Pod[]): readonly string[]
}

export function createTargetSelectors(): TargetSelectors {
  const namespaces = new Map<string, Map<string, CompiledSelector>>()
  return {
    set(key, selector) {
      const { namespace } = splitKey(key)
      const own = namespaces.get(namespace) ?? new Map<string, CompiledSelector>()
      own.set(key, selector)
      namespaces.set(namespace, own)
    },
    delete(key) {
      const { namespace } = splitKey(key)
      const own = namespaces.get(namespace)
      if (own?.delete(key) && own.size === 0) namespaces.delete(namespace)
    },
    over(namespace, pods) {
      const keys: string[] = []
      for (const [key, selector] of namespaces.get(namespace) ?? [])
        if (pods.some(({ metadata }) => selector.matches(metadata.labels))) keys.push(key)
      return keys.sort()
    },
  }
}
