/** The keys of a data folder: sealing, signing, and the organization of a key. */
import { createCipheriv, createHmac, hkdfSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { Keyring } from '../../../src/local/store/keyring.ts';
import { storesInMemory } from './memory.ts';

const master = (byte: number) => new Keyring(new Uint8Array(32).fill(byte));

it('opens a sealed value for its owner and with its key only, unchanged', () => {
  const [keys, others] = [master(1), master(2)];
  const sealed = keys.seal('org_1 sec_1', 'pässword');
  expect(keys.open('org_1 sec_1', sealed)).toBe('pässword');
  expect(Buffer.from(sealed).includes('ssword')).toBe(false);
  expect(keys.seal('org_1 sec_1', 'pässword')).not.toEqual(sealed);
  const broken = expect.objectContaining({
    name: 'SealBroken',
    message: 'A stored secret cannot be opened with the key of this data folder.',
    cause: expect.any(Error),
  });
  expect(() => keys.open('org_1 sec_2', sealed)).toThrow(broken);
  expect(() => others.open('org_1 sec_1', sealed)).toThrow(broken);
  for (const at of [0, 12, 28]) {
    const changed = Uint8Array.from(sealed, (byte, index) => (index === at ? byte ^ 1 : byte));
    expect(() => keys.open('org_1 sec_1', changed), `byte ${at}`).toThrow(broken);
  }
});

it('signs for one purpose, all parts and one key', () => {
  const keys = master(1);
  const signature = keys.sign('upload', ['a', 1]);
  expect(keys.verify('upload', ['a', 1], signature)).toBe(true);
  expect(keys.verify('benchmark', ['a', 1], signature)).toBe(false);
  expect(keys.verify('upload', ['a1'], signature)).toBe(false);
  expect(keys.verify('upload', ['a', 1], `${signature}x`)).toBe(false);
  expect(keys.verify('upload', ['a', 1], '')).toBe(false);
  expect(master(2).verify('upload', ['a', 1], signature)).toBe(false);
});

it('keeps values valid that an earlier version signed and sealed', () => {
  const keyOf = (use: string) =>
    new Uint8Array(hkdfSync('sha256', new Uint8Array(32).fill(1), '', `benchtop ${use}`, 32));
  for (const use of ['upload', 'benchmark', 'trajectory', 'settings'] as const) {
    const signature = createHmac('sha256', keyOf(use)).update('["a",1]').digest('base64url');
    expect(master(1).sign(use, ['a', 1])).toBe(signature);
  }
  const nonce = new Uint8Array(12).fill(7);
  const cipher = createCipheriv('aes-256-gcm', keyOf('secrets'), nonce);
  cipher.setAAD(Buffer.from('org_1 sec_1'));
  const text = Buffer.concat([cipher.update('value'), cipher.final()]);
  expect(master(1).open('org_1 sec_1', Buffer.concat([nonce, cipher.getAuthTag(), text]))).toBe('value');
});

it('has 32 bytes', () => {
  for (const length of [0, 31, 33])
    expect(() => new Keyring(new Uint8Array(length))).toThrow(
      new RangeError(`The key of the data folder has ${length} bytes instead of 32.`),
    );
});

it('keeps the id and date of a secret whose value is replaced, in its organization only', () => {
  const { stores } = storesInMemory();
  const { secrets } = stores;
  const first = secrets.put('org_1', { name: 'TOKEN', value: 'é', description: 'one' });
  expect(first).toMatchObject({ name: 'TOKEN', byte_length: 2, description: 'one', updated_at: first.created_at });
  const second = secrets.put('org_1', { name: 'TOKEN', value: 'second', description: '' });
  expect(second).toMatchObject({ secret_id: first.secret_id, created_at: first.created_at, byte_length: 6 });
  expect(secrets.put('org_2', { name: 'TOKEN', value: 'x', description: '' }).secret_id).not.toBe(first.secret_id);
  expect([secrets.value('org_1', 'TOKEN'), secrets.value('org_2', 'TOKEN'), secrets.value('org_1', 'X')]).toEqual([
    'second',
    'x',
    undefined,
  ]);
  expect([secrets.delete('org_2', first.secret_id), secrets.delete('org_1', first.secret_id)]).toEqual([false, true]);
  expect([secrets.delete('org_1', first.secret_id), secrets.value('org_1', 'TOKEN')]).toEqual([false, undefined]);
  expect(secrets.value('org_2', 'TOKEN')).toBe('x');
});
