import { render } from 'ink-testing-library';
import { expect, it } from 'vitest';
import type { Turn } from '../../src/queries/conversation.ts';
import { type Chat, useKeptChat } from '../../src/queries/kept-chats.ts';
import { type Service, Workbench, WorkbenchProvider } from '../../src/queries/workbench.tsx';
import { eventually } from '../eventually.ts';

const turns: readonly Turn[] = [{ role: 'user', content: 'what is tea?', reasoning: '' }];
const chat: Chat = { id: 'c1', settings: { model: 'm', system: '' }, turns };

function Kept({ answering }: { readonly answering: boolean }) {
  useKeptChat(chat, answering);
  return null;
}

function open(keepsChats: boolean) {
  const service = async (): Promise<Service> => Promise.reject(new Error('nobody asks'));
  const workbench = new Workbench({ service, profile: 'test', keepsChats });
  const show = (answering: boolean) => (
    <WorkbenchProvider workbench={workbench}>
      <Kept answering={answering} />
    </WorkbenchProvider>
  );
  return { ...render(show(true)), show, kept: () => workbench.remembered.chats().map(({ title }) => title) };
}

it('is kept once its answer is whole', async () => {
  const { rerender, show, kept, unmount } = open(true);
  expect(kept()).toEqual([]);
  rerender(show(false));
  await eventually(() => expect(kept()).toEqual(['what is tea?']));
  unmount();
});

it('is not kept where the user wants none kept', async () => {
  const { rerender, show, kept, unmount } = open(false);
  rerender(show(false));
  await new Promise(setImmediate);
  expect(kept()).toEqual([]);
  unmount();
});
