/** What `npm run lint` finds in regular expressions: those that took minutes, and the fix for each. */
import { expect, it } from 'vitest';
import { isSlow } from '../tools/slow-expressions.ts';

it.each([
  [/\/+$/, /(?<!\/)\/+$/],
  [/[\u0600-\u0605]+(?=\s|$)/gv, /(?<![\u0600-\u0605])[\u0600-\u0605]+(?=\s|$)/gv],
  [/<title[^>]*>([^<]{1,200})/i, /<title[^<>]*>([^<]{1,200})/i],
  [/^-+|-+$/g, /^-+|-$/g],
  [/(\/v1)?\/*$/, /(\/v1)?$/],
  [/^\s*(\S+?)\s*\.\.\s*(\S+)\s*$/, /^\s*(\d+)\s*\.\.\s*(\d+)\s*$/],
  [/^[A-Z\r\n]+={0,2}\s*$/, /^[A-Z\r\n]+={0,2}$/],
  [/^(\w+\s?)*$/, /^(\w+\s)*$/],
  [/^(?:a+)+b/, /^a+b/],
  [/\bstream\b.*not/, /\bstream\b.{0,200}not/],
  [/(?=.*\d)\w/, /^(?=.*\d)\w/],
  [/\\[pP]\{[^}]*\}/, /\\[pP]\{[^}\\]*\}/],
  [/^.*x$/gm, /^.*x$/g],
  [/"(?:\\.|[^\\])*"/, /"(?:\\.|[^"\\])*"/y],
])('%s is slow, %s is not', (slow, mended) => {
  expect([isSlow(slow.source, slow.flags), isSlow(mended.source, mended.flags)]).toEqual([true, false]);
});
