/** Agents are sent by id, however the user names them. */
import { expect, it } from 'vitest';
import { namedAgent } from '../../src/queries/agents.ts';
import { CapabilityMissingError, PermissionError, RateLimitError } from '../../src/service/errors.ts';
import { agentField } from '../../src/ui/views/uploads/agent-field.ts';
import { fakeService } from '../service/fake-service.ts';

const agents = [
  { agent_id: 'a1', name: 'writer' },
  { agent_id: 'a2', name: 'tutor' },
  { agent_id: 'a3', name: 'tutor' },
  { agent_id: 'writer', name: null },
  { agent_id: 'a4', name: 'last' },
];
const pages: Readonly<Record<string, object>> = {
  '': { items: agents.slice(0, 3), has_more: true, next_cursor: 'more', dropped: 0 },
  more: { items: agents.slice(3), has_more: false, next_cursor: null, dropped: 0 },
};
const listing = {
  listAgents: ({ query }: { query?: { cursor?: string | null | undefined } | undefined }) => pages[query?.cursor ?? ''],
};
const named = (agent: string | undefined, ofProfile?: string) =>
  namedAgent(fakeService(listing, { agent: ofProfile }), agent, new AbortController().signal);

const failing = (error: Error) =>
  fakeService({
    listAgents: () => {
      throw error;
    },
  });

it('takes an id before a name for an agent', async () => {
  expect(await named('a1')).toEqual({ agent_id: 'a1' });
  expect(await named('last')).toEqual({ agent_id: 'a4' });
  expect(await named('writer')).toEqual({ agent_id: 'writer' });
  expect(await named('name:writer')).toEqual({ agent_id: 'a1' });
});

it('uses the agent of the profile if no other is given', async () => {
  expect(await named(undefined, 'last')).toEqual({ agent_id: 'a4' });
  expect(await named('a1', 'last')).toEqual({ agent_id: 'a1' });
  expect(await namedAgent(fakeService(), undefined, new AbortController().signal)).toBeUndefined();
});

it('refuses an ambiguous name, and lists the ids', async () => {
  await expect(named('tutor')).rejects.toThrow(/^2 agents are named tutor\. Give the id of one: a2, a3\.$/);
});

it('sends an unlisted agent as given', async () => {
  expect(await named('a9')).toEqual({ agent_id: 'a9' });
  expect(await named('name:unlisted')).toEqual({ agent_name: 'unlisted' });
  for (const error of [new CapabilityMissingError('listAgents'), new PermissionError('Not for this key.')]) {
    expect(await namedAgent(failing(error), 'me', new AbortController().signal)).toEqual({ agent_id: 'me' });
  }
});

it('guesses no agent if the list cannot be read this time', async () => {
  const error = new RateLimitError('Too many requests.', { status: 429 });
  await expect(namedAgent(failing(error), 'tutor', new AbortController().signal)).rejects.toBe(error);
});

it('offers the agents in a form, and keeps the one named before', () => {
  const values = (initial?: string) => {
    const field = agentField(agents.slice(0, 2), initial);
    return field.kind === 'choice' ? field.options.map(({ value }) => value) : field.kind;
  };
  expect(values()).toEqual(['', 'a1', 'a2']);
  expect(values('name:writer')).toEqual(['', 'name:writer', 'a2']);
  expect(values('a9')).toEqual(['', 'a1', 'a2', 'a9']);
  expect(agentField([]).kind).toBe('text');
  expect(agentField(Array.from({ length: 31 }, (_, index) => ({ agent_id: `a${index}` }))).kind).toBe('text');
});
