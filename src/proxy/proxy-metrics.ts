/** What the proxy counts, under kube-proxy's names. */
import { createMetrics } from '../base/metrics.ts'
import type { TableState } from './keep-table.ts'

export function proxyMetrics(state: () => TableState): () => string {
  const metrics = createMetrics()
  const one = (name: string, help: string, value: (state: TableState) => number, type: 'gauge' | 'counter' = 'gauge') =>
    metrics.sampled(name, help, [], () => [[value(state())]], type)
  one(
    'kubeproxy_sync_proxy_rules_last_timestamp_seconds',
    'When the rules were last told to the kernel',
    ({ toldMs }) => toldMs / 1000,
  )
  one(
    'skiff_proxy_last_sync_duration_seconds',
    'How long it took the last time to tell the kernel',
    ({ tookMs }) => tookMs / 1000,
  )
  one('skiff_proxy_syncs_total', 'How often the kernel was told', ({ times }) => times, 'counter')
  one(
    'kubeproxy_sync_proxy_rules_nftables_sync_failures_total',
    'How often the kernel did not take the rules',
    ({ failures }) => failures,
    'counter',
  )
  return () => metrics.text()
}
