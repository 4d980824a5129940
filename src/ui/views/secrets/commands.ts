/** What can be done with secrets. */
import type { CommandTable } from '../../keys/command.ts';

export const secretCommands = {
  create: { id: 'secret.create', title: 'create a secret', keys: ['n'], group: 'Secret', hint: 'new', writes: true },
  replace: { id: 'secret.replace', title: 'give it a new value', keys: ['e'], group: 'Secret', writes: true },
  revoke: { id: 'secret.revoke', title: 'revoke it', keys: ['d'], group: 'Secret', writes: true, destructive: true },
} as const satisfies CommandTable;
