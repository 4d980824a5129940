/** Secrets: their metadata, never their values. */
import type { Secret } from '../contract/secrets.ts';
import { type Column, idColumn, plainColumn } from '../present/column.ts';
import type { CommandTable } from '../present/command.ts';
import type { Fact } from '../present/fact.ts';
import { timeColumn, timeFact } from '../present/times.ts';
import { deleteSecret, secretList } from '../queries/secrets.ts';
import { bytes, countOf } from '../text/numbers.ts';
import { type ActionTable, all, single } from './action.ts';
import { defineResource } from './define.ts';

const secretColumns: readonly Column<Secret>[] = [
  plainColumn('name', 'SECRET', { min: 12, max: 50, grow: 2 }, row => row.name ?? row.secret_id, { field: 'name' }),
  plainColumn('size', 'SIZE', 8, row => countOf(row.byte_length), {
    field: 'byte_length',
    align: 'right',
    text: row => bytes(countOf(row.byte_length)),
  }),
  timeColumn('updated', 'UPDATED', row => row.updated_at, { field: 'updated_at' }),
  plainColumn('description', 'DESCRIPTION', { min: 10, max: 60, grow: 2 }, row => row.description, {
    field: 'description',
    cutAt: 'end',
  }),
  idColumn(row => row.secret_id),
];

function secretFacts(row: Secret): readonly Fact[] {
  return [
    { label: 'name', value: row.name },
    { label: 'id', value: row.secret_id },
    { label: 'size', value: bytes(countOf(row.byte_length)) },
    { label: 'about', value: row.description },
    timeFact('created', row.created_at),
    timeFact('updated', row.updated_at),
    { label: 'value', value: 'cannot be read' },
  ];
}

const group = 'Secret';

export const secretActions = {
  replace: {
    id: 'secret.replace',
    title: 'give it a new value',
    keys: ['e'],
    group,
    writes: true,
    appliesTo: single,
    opens: () => 'replace secret',
  },
  revoke: {
    id: 'secret.revoke',
    title: 'revoke it',
    keys: ['d'],
    group,
    writes: true,
    destructive: true,
    appliesTo: all,
    change: {
      send: deleteSecret,
      verb: 'revoke',
      participle: 'revoked',
      consequence: 'tasks that need it cannot run until it is created again. This cannot be undone.',
      command: 'delete',
    },
  },
} as const satisfies ActionTable<Secret>;

export const secretCommands = {
  create: { id: 'secret.create', title: 'create a secret', keys: ['n'], group, hint: 'new', writes: true },
} as const satisfies CommandTable;

export const secrets = defineResource<Secret>({
  names: ['secrets', 'secret', 'sec'],
  order: 90,
  list: () => secretList,
  columns: secretColumns,
  facts: secretFacts,
  label: row => row.name,
  actions: secretActions,
  commands: secretCommands,
  emptyAdvice: { command: secretCommands.create, words: 'creates one' },
});
