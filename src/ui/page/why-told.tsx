/** What an object waits for: the verdict, the chain to the last cause (also drawn in the graph), and the ways out. */
import type { ChainLink, Verdict, Why } from '../protocol.ts'
import { ObjectLink, Section, VerdictMark } from './parts.tsx'

export function WhyTold({ why }: { why: Why }) {
  const { verdict, words, inferred, sentence, responsible, chain, waysOut, unseen, state } = why
  const isChain = state === 'deleting' || chain.next.length > 0
  return (
    <div class="why">
      <Section title="Why">
        <p>
          <VerdictMark verdict={verdict} words={words} />
          {inferred ? ' (inferred)' : ''}
        </p>
        <p>{sentence}</p>
        {responsible === '' ? null : <p class="faint">Responsible: {responsible}</p>}
      </Section>
      {isChain ? (
        <Section title="The chain">
          <ul class="chain">
            <Chain link={chain} />
          </ul>
        </Section>
      ) : null}
      {waysOut.length === 0 ? null : (
        <Section title="Ways out, safest first">
          <ol class="ways">
            {waysOut.map(({ what, command, leaves }) => (
              <li key={`${what} ${command}`}>
                {what}
                {command === undefined ? null : <code>{command}</code>}
                {leaves === 'nothing' ? null : <p class="faint">leaves behind: {leaves}</p>}
              </li>
            ))}
          </ol>
        </Section>
      )}
      {unseen.length === 0 ? null : (
        <Section title="Could not be seen">
          <ul class="plain">
            {unseen.map(({ what, why: reason }) => (
              <li key={what}>
                {what}: {reason}
              </li>
            ))}
          </ul>
        </Section>
      )}
    </div>
  )
}

const WORDS: Readonly<Record<Verdict, string>> = {
  'not-stuck': 'not stuck',
  'will-end': 'will end by itself',
  slow: 'slow',
  nobody: 'nobody is there',
  refused: 'refused',
  'cannot-end': 'cannot end',
}

function Chain({ link }: { link: ChainLink }) {
  return (
    <li>
      {link.verdict === undefined ? null : <VerdictMark verdict={link.verdict} words={WORDS[link.verdict]} />}{' '}
      {link.sentence}
      {link.objects.length === 0 ? null : (
        <span class="refs">
          {link.objects.map((object) => (
            <ObjectLink key={`${object.resource} ${object.namespace} ${object.name}`} object={object} />
          ))}
        </span>
      )}
      {link.next.length === 0 ? null : (
        <ul class="chain">
          {link.next.map((next, at) => (
            <Chain key={`${at} ${next.sentence}`} link={next} />
          ))}
        </ul>
      )}
    </li>
  )
}
