/**
 * Loads what a start of a whole cluster loads, and nothing more: Node keeps what it compiles, so that the first start after
 * `npm ci` is as quick as any later one.
 */
export async function precompile(): Promise<void> {
  await Promise.all([
    import('./up.ts'),
    import('./detach.ts'),
    import('./progress.ts'),
    import('../cluster/cluster.ts'),
    import('../cluster/nodes.ts'),
    import('../cluster/debug-server.ts'),
    import('../storage/lmdb/tables.ts'),
    import('../controllers/manager.ts'),
    import('../scheduler/scheduler.ts'),
    import('../kubelet/kubelet.ts'),
    import('../kubelet/pod-addresses.ts'),
  ])
}
