/** For command lines, which need nothing else of the API server. */
export { LARGEST_SEED, parseFault } from '../apiserver/faults/grammar.ts'
