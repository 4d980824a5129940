import { describe, expect, it } from 'vitest';
import { shellWord } from '../../src/base/shell-word.ts';
import { shellWords, UnclosedQuoteError } from '../../src/base/shell-words.ts';

describe('the arguments in a command line', () => {
  it.each([
    ['pass show lab', ['pass', 'show', 'lab']],
    ['  op\tread   key ', ['op', 'read', 'key']],
    ['op read "op://My Vault/key"', ['op', 'read', 'op://My Vault/key']],
    [`sh -c 'cat "$1" | head' sh`, ['sh', '-c', 'cat "$1" | head', 'sh']],
    ['a\\ b "c \\"d\\" \\e" \'f\\g\'', ['a b', 'c "d" \\e', 'f\\g']],
    [`one"two"'three'`, ['onetwothree']],
    [`empty "" ''`, ['empty', '', '']],
    ['cat $HOME ~/key *', ['cat', '$HOME', '~/key', '*']],
    ['ends with \\', ['ends', 'with', '\\']],
    ['', []],
  ])('%s', (line, words) => {
    expect(shellWords(line)).toEqual(words);
  });

  it.each(['op read "op://My Vault', `echo 'it`, `"'"'`])('are unknown for %s', line => {
    expect(() => shellWords(line)).toThrow(UnclosedQuoteError);
  });
});

it.each(['plain', './a-b_c.d', 'a b', "it's", "''", '', '$HOME', 'a\\b', 'x;y', '~'])(
  'reads a quoted word back: %j',
  word => {
    expect(shellWords(shellWord(word))).toEqual([word]);
    expect(shellWord(word) === word).toBe(/^[\w./-]+$/.test(word));
  },
);
