/** The commands of this room, by name; each is loaded when it is run. */
export const COMPONENT_COMMANDS: Readonly<Record<string, string>> = {
  apiserver: "run the API server alone, under kube-apiserver's flags",
  'controller-manager': "run the controllers against any API server, under kube-controller-manager's flags",
  scheduler: "run the scheduler against any API server, under kube-scheduler's flags",
  kubelet: "run a simulated node against any API server, under kubelet's flags",
}

export async function runComponentCommand(name: string, args: readonly string[]): Promise<void> {
  const { runComponent } = await import('./process.ts')
  switch (name) {
    case 'apiserver':
      return runComponent((await import('./apiserver.ts')).apiserver, args)
    case 'controller-manager':
      return runComponent((await import('./controller-manager.ts')).controllerManager, args)
    case 'scheduler':
      return runComponent((await import('./scheduler.ts')).scheduler, args)
    case 'kubelet':
      return runComponent((await import('./kubelet.ts')).kubelet, args)
    default:
      throw new Error(`there is no component ${name}`)
  }
}
