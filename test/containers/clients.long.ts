/** The same as in clients.test.ts by the clients of Python (from PyPI) and of Java (fabric8's, as sdk/junit has it, from Maven Central). */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startMachineWithServer } from './clients/machine-with-server.ts'
import { type ContainerMachine, withoutContainers } from './stage.ts'

const run = promisify(execFile)
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

describe('sessions by further clients', { skip: withoutContainers }, () => {
  let machine: ContainerMachine
  const folder = mkdtempSync(join(tmpdir(), 'skiff-clients-'))
  before(async () => {
    machine = await startMachineWithServer()
  })
  after(async () => {
    machine?.skiff('down')
    await machine?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('Python: commands, input, terminals, ports, logs', async () => {
    const python = join(folder, 'python')
    await run('python3', ['-m', 'venv', python])
    await run(join(python, 'bin/pip'), ['install', '--quiet', 'kubernetes>=37'])
    const { status, stdout, stderr } = machine.run(join(python, 'bin/python'), at('clients/python.py'))
    assert.equal(status, 0, `${stdout}${stderr}`)
  })

  test('Java, fabric8: commands, input, ports, logs', async () => {
    const project = join(folder, 'junit')
    cpSync(at('../../sdk/junit/pom.xml'), join(project, 'pom.xml'))
    const list = join(folder, 'classpath')
    const build = ['-B', '-q', 'dependency:build-classpath', '-DincludeScope=test', `-Dmdep.outputFile=${list}`]
    await run('mvn', build, { cwd: project, maxBuffer: 64 << 20 })
    const java = ['-cp', readFileSync(list, 'utf8').trim(), at('clients/Fabric8.java')]
    const { status, stdout, stderr } = machine.run('java', ...java)
    assert.equal(status, 0, `${stdout}${stderr}`)
  })
})
