/** Loads every room that a whole cluster loads when it starts, so that Node keeps what it compiles of them. */
export async function loadRooms(): Promise<void> {
  await Promise.all([
    import('./cluster.ts'),
    import('./nodes.ts'),
    import('./component-server.ts'),
    import('./local-path-storage.ts'),
    import('../storage/lmdb/tables.ts'),
    import('../controllers/manager.ts'),
    import('../controllers/graph-page.ts'),
    import('../client/delegated-auth.ts'),
    import('../client/event-correlation.ts'),
    import('../scheduler/scheduler.ts'),
    import('../kubelet/kubelet.ts'),
    import('../kubelet/pod-addresses.ts'),
    import('../kubelet/server/routes.ts'),
    import('../kubelet/sources.ts'),
  ])
}
