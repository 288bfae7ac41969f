import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { takeFlagsAsKubectl } from './flags-as-kubectl.ts'

async function parsed(...args: string[]) {
  const program = new Command().exitOverride()
  program.configureOutput({ writeErr: () => {} })
  const command = program.command('delete').argument('[words...]').option('--force').option('--wait [bool]')
  command.option('-n, --namespace <name>')
  takeFlagsAsKubectl(command)
  let found: readonly unknown[] = []
  command.action((words: readonly string[], flags: object) => {
    found = [words, flags]
  })
  await program.parseAsync(['delete', ...args], { from: 'user' })
  return found
}

test('a flag that is there or not may say so', async () => {
  assert.deepEqual(await parsed('--force=true', 'pod', 'a'), [['pod', 'a'], { force: true }])
  assert.deepEqual(await parsed('pod', '--force=F', 'a'), [['pod', 'a'], {}])
  await assert.rejects(parsed('--force=perhaps', 'pod'), /--force is true or false/)
})

test('a value that may be left out is none of the words behind it', async () => {
  assert.deepEqual(await parsed('--wait', 'pod', 'a'), [['pod', 'a'], { wait: 'true' }])
  assert.deepEqual(await parsed('--wait=false', 'pod', 'a'), [['pod', 'a'], { wait: 'false' }])
})

test('a short flag may have its value behind =, and words behind -- are words', async () => {
  assert.deepEqual(await parsed('-n=team', 'pod', 'a'), [['pod', 'a'], { namespace: 'team' }])
  assert.deepEqual(await parsed('pod', '--', '--force=true'), [['pod', '--force=true'], {}])
})
