/** Run by packet-drops.test.ts in a network of its own. */
import { execFileSync } from 'node:child_process'
import { pause, play } from './fault-stage.ts'

const nft = (...args: readonly string[]) => execFileSync('nft', args)
const portOf = (url: string): string => new URL(url).port

/** Until `end`, nothing that is sent to these ports arrives, on connections that stand too. */
function drop(ports: readonly string[]): () => void {
  nft('add', 'chain', 'inet', 'drops', 'out', '{ type filter hook output priority 0; }')
  nft('add', 'rule', 'inet', 'drops', 'out', 'tcp', 'dport', `{ ${ports.join(', ')} }`, 'drop')
  return () => {
    nft('flush', 'chain', 'inet', 'drops', 'out')
    nft('delete', 'chain', 'inet', 'drops', 'out')
  }
}

await play(async ({ members, workload }) => {
  for (const member of members) {
    const end = drop([portOf(member.url)])
    await workload.progress(40)
    await pause(1500)
    end()
    await workload.progress(20)
  }
  const end = drop(members.slice(0, 2).map(({ url }) => portOf(url)))
  await pause(3000)
  end()
  await workload.progress(40)
})
process.exit(0)
