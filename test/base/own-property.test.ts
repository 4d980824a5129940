import { describe, expect, it } from 'vitest';
import { own } from '../../src/base/own-property.ts';

describe('own', () => {
  it('finds its own keys, and none that all objects inherit', () => {
    const known: Record<string, number> = { one: 1 };
    expect(own(known, 'one')).toBe(1);
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'two'])
      expect(own(known, name)).toBeUndefined();
    expect(own(undefined, 'one')).toBeUndefined();
    // JSON may hold any name.
    expect(own(JSON.parse('{"__proto__": 2}') as Record<string, number>, '__proto__')).toBe(2);
  });
});
