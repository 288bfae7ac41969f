/**
 * The program of a sandbox's first process, as an ELF file: it does nothing but end on SIGTERM or SIGINT and take up the processes whose
 * parents have gone (it is process 1 where a pod shares its processes). Written here as machine code, so that no compiler, no registry
 * and no file of others is needed. All it asks of the kernel: rt_sigprocmask, rt_sigtimedwait, wait4, exit_group. The signals are blocked
 * and waited for, since process 1 gets none that it has no handler for.
 */
export type Architecture = 'amd64' | 'arm64'

const SIGINT = 2
const SIGTERM = 15
const SIGCHLD = 17
const maskOf = (...signals: readonly number[]) =>
  signals.reduce((mask, signal) => mask | (1n << BigInt(signal - 1)), 0n)
/** The set of signals that is waited for, 8 bytes, stands behind the code. */
const MASK = maskOf(SIGINT, SIGTERM, SIGCHLD)

/** Where the file is in memory when it runs. */
const BASE = 0x400000
const ELF_HEADER = 64
const PROGRAM_HEADER = 56
const CODE = ELF_HEADER + PROGRAM_HEADER

export function pauseProgram(architecture: Architecture): Buffer {
  const code = architecture === 'amd64' ? amd64() : arm64()
  const mask = Buffer.alloc(8)
  mask.writeBigUInt64LE(MASK)
  const size = CODE + code.length + mask.length
  const elf = Buffer.alloc(CODE)
  elf.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0])
  elf.writeUInt16LE(2, 16) // an executable
  elf.writeUInt16LE(architecture === 'amd64' ? 62 : 183, 18)
  elf.writeUInt32LE(1, 20)
  elf.writeBigUInt64LE(BigInt(BASE + CODE), 24)
  elf.writeBigUInt64LE(BigInt(ELF_HEADER), 32)
  elf.writeUInt16LE(ELF_HEADER, 52)
  elf.writeUInt16LE(PROGRAM_HEADER, 54)
  elf.writeUInt16LE(1, 56)
  const segment = elf.subarray(ELF_HEADER)
  segment.writeUInt32LE(1, 0) // to be loaded
  segment.writeUInt32LE(5, 4) // readable, executable
  segment.writeBigUInt64LE(BigInt(BASE), 16)
  segment.writeBigUInt64LE(BigInt(BASE), 24)
  segment.writeBigUInt64LE(BigInt(size), 32)
  segment.writeBigUInt64LE(BigInt(size), 40)
  segment.writeBigUInt64LE(0x1000n, 48)
  return Buffer.concat([elf, code, mask])
}

/** Bytes of instructions, and jumps to places named by `label`; a jump's distance is filled in when all places are known. */
function amd64(): Buffer {
  const bytes: number[] = []
  const labels = new Map<string, number>()
  const jumps: { readonly at: number; readonly to: string }[] = []
  const emit = (...code: readonly number[]) => bytes.push(...code)
  const label = (name: string) => labels.set(name, bytes.length)
  const jump = (code: readonly number[], to: string) => {
    emit(...code, 0, 0, 0, 0)
    jumps.push({ at: bytes.length - 4, to })
  }
  const loadMask = (register: number) => jump([0x48, 0x8d, register], 'mask') // lea REGISTER, [rip + mask]
  const RSI = 0x35
  const RDI = 0x3d
  const syscall = (number: number) => emit(0xb8, number & 0xff, number >> 8, 0, 0, 0x0f, 0x05) // mov eax, NUMBER; syscall
  const size = () => emit(0x41, 0xba, 8, 0, 0, 0) // mov r10d, 8

  emit(0x31, 0xff) // xor edi, edi: SIG_BLOCK
  loadMask(RSI)
  emit(0x31, 0xd2) // xor edx, edx
  size()
  syscall(14) // rt_sigprocmask
  label('wait')
  loadMask(RDI)
  emit(0x31, 0xf6, 0x31, 0xd2) // no info, no timeout
  size()
  syscall(128) // rt_sigtimedwait
  emit(0x83, 0xf8, SIGINT) // cmp eax, SIGINT
  jump([0x0f, 0x84], 'end') // je
  emit(0x83, 0xf8, SIGTERM)
  jump([0x0f, 0x84], 'end')
  label('reap')
  emit(0x48, 0xc7, 0xc7, 0xff, 0xff, 0xff, 0xff) // mov rdi, -1
  emit(0x31, 0xf6, 0xba, 1, 0, 0, 0) // no status; WNOHANG
  emit(0x45, 0x31, 0xd2) // xor r10d, r10d
  syscall(61) // wait4
  emit(0x85, 0xc0) // test eax, eax
  jump([0x0f, 0x8f], 'reap') // jg: there may be more
  jump([0xe9], 'wait')
  label('end')
  emit(0x31, 0xff)
  syscall(231) // exit_group
  while (bytes.length % 8 !== 0) emit(0x90)
  label('mask')
  const code = Buffer.from(bytes)
  for (const { at, to } of jumps) code.writeInt32LE(labels.get(to)! - (at + 4), at)
  return code
}

/** The same: words of four bytes, distances counted in words. */
function arm64(): Buffer {
  const words: (number | { readonly to: string; readonly word: (distance: number) => number })[] = []
  const labels = new Map<string, number>()
  const label = (name: string) => labels.set(name, words.length)
  const emit = (...code: readonly number[]) => words.push(...code)
  const movz = (register: number, value: number) => emit(0xd2800000 | (value << 5) | register)
  const loadMask = (register: number) =>
    // adr: the distance in bytes, its two lowest bits apart; it is a multiple of four here.
    words.push({ to: 'mask', word: (distance) => 0x10000000 | ((distance & 0x7ffff) << 5) | register })
  const branch = (condition: number, to: string) =>
    words.push({ to, word: (distance) => 0x54000000 | ((distance & 0x7ffff) << 5) | condition })
  const compare = (value: number) => emit(0xf100001f | (value << 10)) // cmp x0, #value
  const syscall = (number: number) => {
    movz(8, number)
    emit(0xd4000001) // svc 0
  }
  const EQUAL = 0
  const GREATER = 12

  movz(0, 0)
  loadMask(1)
  movz(2, 0)
  movz(3, 8)
  syscall(135) // rt_sigprocmask
  label('wait')
  loadMask(0)
  movz(1, 0)
  movz(2, 0)
  movz(3, 8)
  syscall(137) // rt_sigtimedwait
  compare(SIGINT)
  branch(EQUAL, 'end')
  compare(SIGTERM)
  branch(EQUAL, 'end')
  label('reap')
  emit(0x92800000) // mov x0, -1
  movz(1, 0)
  movz(2, 1)
  movz(3, 0)
  syscall(260) // wait4
  compare(0)
  branch(GREATER, 'reap')
  words.push({ to: 'wait', word: (distance) => 0x14000000 | (distance & 0x3ffffff) }) // b
  label('end')
  movz(0, 0)
  syscall(94) // exit_group
  if (words.length % 2 === 1) emit(0xd503201f) // nop
  label('mask')
  const code = Buffer.alloc(words.length * 4)
  for (const [at, word] of words.entries())
    code.writeUInt32LE((typeof word === 'number' ? word : word.word(labels.get(word.to)! - at)) >>> 0, at * 4)
  return code
}
