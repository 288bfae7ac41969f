/** Definitions whose rules in CEL are refused, or accepted with a warning: what they may cost, what they may say. */
import type { Case } from '../recording.ts'
import { ruled, spec } from './crd-asked.ts'
import { integer, list, object, text } from './definitions.ts'

export const refusedRules: readonly Case[] = [
  spec(
    'a rule over a list of lists without bounds',
    object({ l: ruled(list(list(text)), 'self.all(x, x.all(y, y.contains("x")))') }),
  ),
  spec(
    'a rule that multiplies',
    object({ l: list(ruled(list(text), 'self.all(x, self.all(y, self.all(z, x == y || y == z)))')) }),
  ),
  spec('a rule with bounds', object({ l: ruled(list(text, { maxItems: 10 }), 'self.all(x, self.all(y, x == y))') })),
  spec(
    'a message that costs',
    object({
      l: ruled(list(text), { rule: 'true', messageExpression: 'self.map(x, self.map(y, x + y).join("")).join("")' }),
    }),
  ),
  spec(
    'a message of unknown length',
    object({ i: ruled(integer, { rule: 'true', messageExpression: '"at least " + string(self)' }) }),
  ),
  spec('a regular expression over anything', object({ l: list(ruled(text, 'self.matches("^(a|b)*$")')) })),
  spec(
    'many dear rules',
    object(
      Object.fromEntries(
        Array.from({ length: 30 }, (_, i) => [
          `f${i}`,
          ruled(list(text, { maxItems: 1000 }), 'self.exists_one(x, x == "a")'),
        ]),
      ),
    ),
  ),
  spec(
    'a rule that does not compile',
    object({ s: ruled(text, 'self.nothing == 1', 'self +', '', 'self == 1', '1 + 1') }),
  ),
  spec(
    'unknown variables and functions',
    object({ s: ruled(text, 'other == self', 'self.unknownFunction()', 'has(self)') }),
  ),
  spec(
    'a message that is none',
    object({
      s: ruled(
        text,
        { rule: 'true', messageExpression: '1' },
        { rule: 'true', messageExpression: 'self +' },
        { rule: 'true', message: ' ' },
        { rule: 'true', message: 'two\nlines' },
        { rule: 'true', message: 'x'.repeat(3000) },
      ),
    }),
  ),
  spec(
    'reasons and paths',
    object({
      o: ruled(
        object({ a: text, l: list(text) }),
        { rule: 'true', reason: 'Bogus' },
        { rule: 'true', fieldPath: '.none' },
        { rule: 'true', fieldPath: 'a' },
        { rule: 'true', fieldPath: '.l[0]' },
        { rule: 'true', fieldPath: "['a']" },
        { rule: 'true', fieldPath: '' },
        { rule: 'true', fieldPath: '.a.b' },
      ),
    }),
  ),
  spec(
    'old values where there are none',
    object({ l: list(ruled(text, 'self == oldSelf')), m: ruled(list(text), 'self == oldSelf') }),
  ),
  spec(
    'optional old values',
    object({
      s: ruled(
        text,
        { rule: 'true', optionalOldSelf: true },
        { rule: 'self == oldSelf', optionalOldSelf: true },
        { rule: 'oldSelf.orValue("") == self', optionalOldSelf: true },
        { rule: 'self == oldSelf', optionalOldSelf: false },
      ),
    }),
  ),
  spec('the same rule twice', object({ s: ruled(text, 'self == "x"', 'self == "x"') })),
  spec(
    'rules on what is kept as it is',
    object({
      x: ruled({ 'x-kubernetes-preserve-unknown-fields': true }, 'true'),
      y: ruled({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, 'self.x == 1'),
    }),
  ),
  spec(
    'int or string and rules',
    object({
      x: ruled({ 'x-kubernetes-int-or-string': true }, 'type(self) == int ? self > 1 : self.size() > 1', 'self > 1'),
    }),
  ),
  spec(
    'an embedded object and rules',
    object({
      x: ruled(
        { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
        'self.metadata.name == "x"',
        'self.spec.x == 1',
        'self.kind == "Pod"',
      ),
    }),
  ),
  spec(
    'names that are words of the language',
    object(
      { true: text, in: text, 'a-b': text, 'a.b': text, __x__: text, namespace: text },
      {
        'x-kubernetes-validations': [
          {
            rule: 'self.__in__ == self.__true__ && self.a__dash__b == self.a__dot__b && self.__underscores__x__ == "x" && self.__namespace__ == ""',
          },
        ],
      },
    ),
  ),
]
