/** The chat on the screen: two models side by side, and delayed answers. */
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Branch, OtherBranches } from '../../../src/chat/branches.ts';
import { savedChat } from '../../../src/chat/saved.ts';
import { modelList } from '../../../src/queries/models.ts';
import type { Place } from '../../../src/resources/place.ts';
import { systemClock } from '../../../src/service/clock.ts';
import { RememberedStore } from '../../../src/store/store.ts';
import { Program } from '../../../src/ui/app/program.tsx';
import { registry } from '../../../src/ui/views/registry.ts';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';
import type { Workbench, WorkbenchOptions } from '../../../src/workbench/workbench.ts';
import { testFolder } from '../../commands/cli.ts';
import { eventually } from '../../eventually.ts';
import { openScreen, type Screen } from '../../screen.ts';
import { hostileServer, json, open, refusal, serviceAt, stream } from '../../service/hostile-server.ts';
import { newWorkbench } from '../../workbench/new-workbench.ts';
import { noTerminal } from '../stage.tsx';
import { openView } from './actions.tsx';

const small: Place = { view: 'chat', model: 'acme/small' };

type Opened = Screen & { readonly workbench: Workbench };

/** Opens a view on a server; closes with the test. */
function openAt(
  url: string,
  start = small,
  options: Partial<WorkbenchOptions> = {},
  size = { columns: 120, rows: 30 },
): Opened {
  const { service } = serviceAt(url, { clock: systemClock });
  const workbench = newWorkbench({ service: async () => service, gate: service.gate, ...options });
  const screen = openScreen(
    <Program workbench={workbench} theme={createTheme()} registry={registry} terminal={noTerminal} start={start} />,
    size,
  );
  onTestFinished(() => {
    screen.close();
    workbench.close();
  });
  return { ...screen, workbench };
}

/** Waits for the lists of models, which the window that chooses one does not wait for. */
async function hasModels(screen: Opened): Promise<void> {
  await screen.waitFor('<enter> send');
  await eventually(() => expect(screen.workbench.cache.isFetching()).toBe(0));
}

/** Chooses `talker` as the second model. */
async function addTalker(screen: Screen): Promise<void> {
  await screen.press('ctrl-o');
  await screen.waitFor('Which model should answer?');
  await screen.press('tab', 'tab');
  await screen.waitFor('▸ Second model');
  await screen.press('right');
  await screen.waitFor('talker');
  await screen.press('enter');
  await screen.waitFor(text => /▸ acme\/small +│ {3}talker/.test(text));
}

async function say(screen: Screen, text: string): Promise<void> {
  await screen.type(text);
  await screen.press('enter');
  await screen.waitFor(
    shown => shown.includes(`  ${text}`) && !shown.includes('answering: ') && shown.includes('<enter> send'),
  );
}

it('shows the numbers of each of two models under its own name', async () => {
  const { screen } = await openView({ view: 'chat', model: 'acme/small' });
  await screen.resize(180, 60);
  await say(screen, 'hello');
  await screen.waitFor('finished');
  await addTalker(screen);
  // The second has not answered yet: the statistics of the first are not its own.
  const [first = '', second = ''] = screen.text().split('TALKER');
  expect(first).toMatch(/ACME\/SMALL.*finished +stop/s);
  expect(second).toContain('no answer yet');
  expect(second).not.toContain('finished');
  await say(screen, 'again');
  await screen.waitFor(text => /finished +stop/.test(text.split('TALKER')[1] ?? ''));
});

it('scrolls two conversations together, and shows one at a time if there is no room for both', async () => {
  const { screen } = await openView({ view: 'chat', model: 'acme/small' });
  await addTalker(screen);
  await say(screen, 'first question');
  await screen.waitFor(text => /default parameters.*│ +default parameters/.test(text));
  for (const question of ['second question', 'third question']) await say(screen, question);
  await screen.resize(80, 18);
  const both = /(\w+) question +│ +(\w+) question/g;
  const questions = (): readonly (readonly string[])[] => [...screen.text().matchAll(both)].map(each => each.slice(1));
  await screen.waitFor(text => /third question +│ +third question/.test(text));
  expect(screen.text()).not.toContain('first question');
  await screen.press('esc', 'g');
  await screen.waitFor(text => /first question +│ +first question/.test(text));
  for (const _ of [1, 2, 3]) await screen.press('down');
  for (const [left, right] of questions()) expect(left).toBe(right);
  await screen.resize(60, 15);
  await screen.waitFor('1 of 2, v for the other  acme/small');
  expect(screen.text()).not.toMatch(both);
  await screen.press('v');
  await screen.waitFor('2 of 2, v for the other  talker');
});

it('keeps the better answer that was chosen, and counts it with those of other conversations', async () => {
  const { screen, workbench } = await openView({ view: 'chat', model: 'acme/small' });
  await say(screen, 'alone');
  await screen.press('esc', '1');
  await screen.waitFor('Choose a second model first: ctrl-o');
  await screen.press('i');
  await addTalker(screen);
  await screen.press('esc', '1');
  await screen.waitFor('Both answers are from the same model');
  await screen.press('i');
  await say(screen, 'both');
  await screen.press('esc', '2');
  await screen.waitFor('left better 0, right better 1, equal 0 (n=1), single-look exact sign test: p = 1.0');
  await screen.waitFor(text => /the other is better +│ +chosen as better/.test(text));
  const kept = () => workbench.remembered.choices().map(({ choice }) => choice);
  expect(kept()).toMatchObject([{ better: 'right', models: ['acme/small', 'talker'] }]);
  // Another choice replaces it, and the same again takes it back.
  await screen.press('1');
  await screen.waitFor('left better 1, right better 0');
  await screen.press('1');
  await screen.waitFor('Choice removed');
  expect(kept()).toEqual([]);
  await screen.press('3', 'N', 'i');
  await say(screen, 'another conversation');
  await screen.press('esc', '1');
  await screen.waitFor('left better 1, right better 0, equal 1 (n=2)');
  expect(kept()).toHaveLength(2);
  // A choice outlives its conversation, and is shown where that is opened (A12).
  await screen.press('H');
  await screen.waitFor('Earlier conversations');
  await screen.press('down', 'enter');
  await screen.waitFor('chosen as equal');
  await screen.press('X');
  await screen.waitFor('Delete it, also from disk; its 1 choice still counts');
  await screen.press('down', 'enter');
  await screen.waitFor('Forgotten');
  expect(kept()).toHaveLength(2);
});

it('edits an earlier question in a new branch, and shows the old one again, even after a restart', async () => {
  const { screen, workbench } = await openView({ view: 'chat', model: 'acme/small' });
  await say(screen, 'first question');
  await say(screen, 'second question');
  await screen.type('not sent yet');
  await screen.press('esc', 'K');
  await screen.waitFor('▸ you');
  await screen.press('E');
  await screen.waitFor('Editing question 1 of 2, sent in a new branch; esc E discards the edit');
  await screen.press('esc', 'E');
  await screen.waitFor(text => text.includes('› not sent yet') && !text.includes('Editing'));
  await screen.press('esc', 'K', 'E', 'ctrl-u');
  await say(screen, 'changed question');
  await screen.waitFor('branch ‹ 2/2 ›');
  await screen.waitFor('you  ‹ 2/2 ›');
  expect(screen.text()).not.toContain('second question');
  expect(screen.text()).toContain('› not sent yet');
  await screen.press('esc', '[');
  await screen.waitFor('branch ‹ 1/2 ›');
  expect(screen.text()).toContain('second question');
  const [kept] = workbench.remembered.chats();
  expect(workbench.remembered.chat(kept?.id ?? '')?.talk).toMatchObject({
    branch: 0,
    others: [{ turns: [{ content: 'changed question' }, {}] }],
  });
  // A new conversation has one branch; the earlier one has both again.
  await screen.press('N');
  await screen.waitFor(text => !text.includes('branch'));
  await screen.press('H');
  await screen.waitFor('Earlier conversations');
  await screen.press('enter');
  await screen.waitFor('branch ‹ 1/2 ›');
  await screen.press(']');
  await screen.waitFor('changed question');
  // So does an answer that is generated again.
  await screen.press('R');
  await screen.waitFor('branch ‹ 3/3 ›');
  await screen.waitFor('acme/small  ‹ 2/2 ›');
});

const chunkOf = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;

it('keeps the messages of two screens on one conversation, as branches (B2)', async () => {
  const slow = Promise.withResolvers<void>();
  const server = await hostileServer(async (response, request) => {
    const items = request.url.includes('/models') ? [{ model_slug: 'acme/small' }] : [];
    if (!request.url.includes('/chat/')) return json({ items, has_more: false })(response, request);
    if (request.body.includes('slowly')) await slow.promise;
    return stream([chunkOf('hi there'), 'data: [DONE]\n\n'])(response, request);
  });
  const path = join(testFolder(), 'remembered.db');
  const remembered = () => RememberedStore.open(path, 'test');
  const [one, other] = [1, 2].map(() => openAt(server.url, { view: 'chat' }, { remembered })) as [Opened, Opened];
  const kept = () =>
    one.workbench.remembered.chats().map(({ id }) => {
      const { turns, others = [] } = savedChat(one.workbench.remembered, id) as Branch & Partial<OtherBranches>;
      return [{ turns }, ...others].map(branch => branch.turns.map(({ content }) => content));
    });
  await one.waitFor('<enter> send');
  await say(one, 'first question');
  await other.waitFor('<enter> send');
  await other.press('esc', 'H');
  await other.waitFor('Earlier conversations');
  await other.press('enter');
  await other.waitFor('first question');
  await say(one, 'asked here');
  await other.press('i');
  await say(other, 'asked there');
  await other.waitFor('branch ‹ 1/2 ›');
  // So does an answer that comes while the conversation is off screen.
  await one.type('asked slowly');
  await one.press('enter');
  await one.waitFor('answering');
  await one.press('tab', ':');
  await one.type('datasets');
  await one.press('enter');
  await one.waitFor(text => !text.includes('asked slowly'));
  await say(other, 'asked there again');
  slow.resolve();
  await expect.poll(() => JSON.stringify(kept())).toContain('"asked slowly","hi there"');
  await one.press(':');
  await one.type('chat');
  await one.press('enter');
  await one.waitFor('branch ‹ 1/2 ›');
  await say(one, 'asked here again');
  const talkOf = (...questions: string[]) => questions.flatMap(each => [each, 'hi there']);
  expect(kept()).toEqual([
    [
      talkOf('first question', 'asked here', 'asked slowly', 'asked here again'),
      talkOf('first question', 'asked there', 'asked there again'),
    ],
  ]);
});

/** A screen with two models, whose answers end when the test says so. */
async function halfAnswered() {
  const answers: (() => void)[] = [];
  const server = await hostileServer(async (response, request) => {
    if (request.url.includes('/chat/')) {
      await open([chunkOf('half of it')])(response, request);
      answers.push(() => response.end('data: [DONE]\n\n'));
    } else {
      const items = request.url.includes('/deploy')
        ? [{ deployment_id: 'd1', model_slug: 'talker', is_active: true }]
        : [];
      await json({ items, has_more: false })(response, request);
    }
  });
  const screen = openAt(server.url);
  await hasModels(screen);
  await addTalker(screen);
  await screen.type('slow please');
  await screen.press('enter');
  await screen.waitFor(text => /half of it +│ +half of it/.test(text));
  const endAnswers = async (): Promise<void> => {
    for (const end of answers.splice(0)) end();
    await screen.waitFor(text => /complete after .*│.* complete after/.test(text));
  };
  return { screen, endAnswers };
}

it('does not switch models while an answer streams (A2, A3)', async () => {
  const { screen, endAnswers } = await halfAnswered();
  await screen.press('ctrl-o');
  await screen.waitFor('The answer must end first: ctrl-c stops it');
  expect(screen.text()).not.toContain('Which model should answer?');
  await endAnswers();
  await screen.press('ctrl-o');
  await screen.waitFor('Which model should answer?');
});

it('keeps the text so far of an answer when a new conversation starts (A4)', async () => {
  const { screen, endAnswers } = await halfAnswered();
  await endAnswers();
  await screen.press('esc', 'R');
  const halves = (text: string): boolean => /half of it +│ +half of it/.test(text);
  await screen.waitFor(text => text.includes('branch ‹ 2/2 ›') && halves(text));
  await screen.press('N');
  await screen.waitFor('No messages with acme/small yet');
  const half = { content: 'half of it', cancelled: true };
  const { remembered } = screen.workbench;
  expect(remembered.chats().map(({ id }) => remembered.chat(id)?.talk)).toMatchObject([
    { branch: 1, turns: [{}, half], secondTurns: [{}, half] },
  ]);
  await screen.press('H');
  await screen.waitFor('(incomplete answer) slow please');
  await screen.press('enter');
  await screen.waitFor(
    text => /stopped: the answer is incomplete +│ +stopped: the answer is/.test(text) && halves(text),
  );
});

/** A service with a training run of three checkpoints; the first and the last may be deployed. */
function trainedServer(
  isDeployed: boolean,
  { system, question } = { system: 'be brief', question: 'tea?' },
  examples: readonly object[] = [],
) {
  const base_model_slug = 'acme/small';
  const trajectory = {
    ...{
      trajectory_id: 'trj_1',
      task_id: 'tea-1',
      status: 'completed',
      reward: 0,
      training_run_id: 'trn_1',
      policy_step: 6,
    },
    steps: [
      {
        step_index: 0,
        messages: [
          { role: 'system', content: system },
          ...examples,
          {
            role: 'user',
            content: [
              { type: 'text', text: question },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,aaaa' } },
            ],
          },
          { role: 'assistant', content: 'no', finish_reason: 'stop' },
        ],
      },
    ],
  };
  const deployments = [2, 6].map(step => ({
    ...{ deployment_id: `dep_${step}`, model_slug: `step-${step}`, is_active: true, status: 'DEPLOYED' },
    ...{ checkpoint_id: `ckpt_${step}`, base_model_slug },
  }));
  const checkpoints = [2, 4, 6].map(step_index => ({ checkpoint_id: `ckpt_${step_index}`, step_index }));
  const answers: readonly (readonly [RegExp, unknown])[] = [
    [/\/trajectories\/trj_1/, trajectory],
    [/\/checkpoints/, checkpoints],
    [/\/train\/trn_1(\?|$)/, { training_run_id: 'trn_1', status: 'succeeded', base_model_slug }],
    [/\/deploy/, { items: isDeployed ? deployments : [], has_more: false }],
  ];
  return hostileServer((response, request) => {
    if (request.url.includes('/chat/')) {
      const { model } = JSON.parse(request.body) as { model: string };
      return stream([chunkOf(`I am ${model}`), 'data: [DONE]\n\n'])(response, request);
    }
    const found = answers.find(([pattern]) => pattern.test(request.url));
    return json(found?.[1] ?? { items: [], has_more: false })(response, request);
  });
}

const reader: Place = { view: 'record', resource: 'trajectories', id: 'trj_1' };

it('sends the prompt of a rollout to the base model and its checkpoint, then to the other checkpoints', async () => {
  const server = await trainedServer(true);
  const screen = openAt(server.url, reader);
  await screen.waitFor('be brief');
  await screen.press('t');
  await screen.waitFor('the checkpoint at step 6');
  await screen.waitFor(text => text.includes('Left out') && text.includes('image png'));
  await screen.waitFor('› tea?');
  await screen.press('enter');
  await screen.waitFor(text => /I am acme\/small +│ +I am step-6/.test(text));
  const asked = () =>
    server.requests
      .filter(({ url }) => url.includes('/chat/'))
      .map(({ body }) => JSON.parse(body) as { model: string; messages: unknown });
  expect(asked().map(({ model }) => model)).toEqual(['acme/small', 'step-6']);
  expect(asked()[0]?.messages).toEqual([
    { role: 'system', content: 'be brief' },
    { role: 'user', content: 'tea?' },
  ]);
  await screen.waitFor('step 6: deployed checkpoint 2 of 2, 3 in all');
  await screen.press('esc', '.');
  await screen.waitFor('There is no deployed checkpoint after this one');
  await screen.press(',');
  await screen.waitFor(text => /I am acme\/small +│ +I am step-2/.test(text));
  await screen.waitFor('step 2: deployed checkpoint 1 of 2, 3 in all');
  expect(asked().map(({ model }) => model)).toEqual(['acme/small', 'step-6', 'step-2']);
  // Back at one that has answered, nothing is asked again.
  await screen.press('.');
  await screen.waitFor(text => /I am acme\/small +│ +I am step-6/.test(text));
  expect(asked()).toHaveLength(3);
});

it('sends the prompt of a rollout unchanged, until its text is edited, and then says so (B1, B2)', async () => {
  const system = 'Rule one:\r\n\t- be brief\n\nRule two: end. \n';
  const question = 'def f():\n\treturn 1\r\nzero\u200bwidth \u202eabc\u202c \u001b[31mred end  \n';
  const server = await trainedServer(true, { system, question });
  const asked = () =>
    server.requests
      .filter(({ url }) => url.includes('/chat/'))
      .map(({ body }) => (JSON.parse(body) as { messages: { content: string }[] }).messages.map(each => each.content));
  const screen = openAt(server.url, reader);
  await screen.waitFor('be brief');
  await screen.press('t');
  await screen.waitFor('Tabs, line ends and hidden characters are sent as they were');
  expect(screen.text()).not.toMatch(/[\u001b\u200b\u202e]/);
  // To open the parameters changes nothing.
  await screen.press('ctrl-t');
  await screen.waitFor('Rule two: end.');
  await screen.press('left', 'enter');
  await screen.waitFor(text => !text.includes('Rule one'));
  await screen.press('left', 'enter');
  await screen.waitFor(text => /I am acme\/small +│ +I am step-6/.test(text));
  expect(asked()).toEqual([
    [system, question],
    [system, question],
  ]);
  await screen.press('esc', 'E');
  await screen.waitFor('Editing question 1 of 1');
  await screen.type('.');
  await screen.waitFor('Tabs, line ends and hidden characters are now as shown here');
  await screen.press('ctrl-t');
  await screen.waitFor('Rule two: end.');
  await screen.type('!');
  await screen.waitFor(text => /│ +Tabs, line ends .* as shown here +│/.test(text));
  await screen.press('enter');
  await screen.waitFor(text => !text.includes('Rule one'));
  await screen.press('enter');
  await screen.waitFor('branch ‹ 2/2 ›');
  await expect.poll(() => asked().length).toBe(4);
  expect(asked()[3]).toEqual([
    'Rule one:\n    - be brief\n\nRule two: end. \n!',
    'def f():\n    return 1\nzerowidth abc red end  \n.',
  ]);
});

it.each([
  [60, 15],
  [80, 24],
  [120, 40],
])('sends a prompt with its example answers: %i x %i', async (columns, rows) => {
  const examples = [
    { role: 'user', content: 'milk?' },
    { role: 'assistant', content: 'Milk is white.' },
  ];
  const server = await trainedServer(true, undefined, examples);
  const screen = openAt(server.url, reader, {}, { columns, rows });
  await screen.waitFor('Milk is white.');
  await screen.press('t');
  await screen.waitFor('› tea?');
  // What is said about the prompt follows its messages.
  await screen.waitFor('earlier');
  await screen.press('esc', 'g');
  await screen.waitFor('assistant, in the prompt');
  expect(screen.text()).not.toContain('incomplete');
  // There is no answer of a model to generate again.
  await screen.press('R');
  await screen.press('i', 'enter');
  await screen.waitFor('I am acme/small');
  const asked = server.requests
    .filter(({ url }) => url.includes('/chat/'))
    .map(({ body }) => (JSON.parse(body) as { messages: unknown }).messages);
  const sent = [{ role: 'system', content: 'be brief' }, ...examples, { role: 'user', content: 'tea?' }];
  expect(asked).toEqual([sent, sent]);
});

it('says that no checkpoint is deployed, and shows the training rollouts of the task instead', async () => {
  const screen = openAt((await trainedServer(false)).url, reader);
  await screen.waitFor('be brief');
  await screen.press('t');
  await screen.waitFor('is not deployed, so it cannot');
  await screen.waitFor('› tea?');
  await screen.press('esc', '.');
  await screen.waitFor('No checkpoint is deployed, so none can be asked');
  await screen.waitFor('tea-1 › Chat › tea-1');
});

it('saves both conversations with one request, and resends only the refused one', async () => {
  const outcomes = [
    [
      { request_index: 0, status: 'uploaded' },
      { request_index: 1, status: 'error', failure: { message: 'it is too short' } },
    ],
    [{ request_index: 0, status: 'uploaded' }],
  ];
  const server = await hostileServer((response, request) => {
    if (request.url.includes('/chat/')) return stream([chunkOf('hi there'), 'data: [DONE]\n\n'])(response, request);
    if (request.method === 'POST') return json({ trajectories: outcomes.shift() })(response, request);
    if (request.url.includes('/deploy'))
      return json([{ deployment_id: 'd1', model_slug: 'talker', is_active: true }])(response, request);
    return json({ items: [], has_more: false })(response, request);
  });
  const screen = openAt(server.url);
  await hasModels(screen);
  await addTalker(screen);
  await say(screen, 'hello');
  await screen.press('esc', '2', 'S');
  await screen.waitFor('Save both conversations as trajectories');
  await screen.press('tab');
  await screen.type('task-1');
  await screen.press('enter');
  await screen.waitFor('Save the answers from talker as a trajectory');
  await screen.waitFor('In the dataset chats: acme/small. Refused: talker, it is too short');
  await screen.press('enter');
  await screen.waitFor('Saved in the dataset chats');
  const sent = server.requests
    .filter(({ url }) => url.includes('/trajectories/upload'))
    .map(
      ({ body }) =>
        JSON.parse(String(body)) as { trajectories: { model_slug: string; task_id: string; trace_id: string }[] },
    );
  const [first, second] = sent.map(({ trajectories }) => trajectories);
  expect(first?.map(({ model_slug, task_id }) => [model_slug, task_id])).toEqual([
    ['acme/small', 'task-1'],
    ['talker', 'task-1'],
  ]);
  expect(second).toEqual(first?.slice(1));
});

it('asks before it sends a conversation a second time', async () => {
  const server = await hostileServer((response, request) => {
    if (request.url.includes('/chat/')) return stream([chunkOf('hi there'), 'data: [DONE]\n\n'])(response, request);
    if (request.method === 'POST')
      return json({ uploaded: 1, trajectories: [{ request_index: 0, status: 'uploaded' }] })(response, request);
    return json({ items: [], has_more: false })(response, request);
  });
  const sent = () => server.requests.filter(({ url }) => url.includes('/trajectories/upload')).length;
  const screen = openAt(server.url);
  await screen.waitFor('<enter> send');
  await say(screen, 'hello');
  const save = async (): Promise<void> => {
    await screen.press('S');
    await screen.waitFor('Save the conversation as a trajectory');
    await screen.press('enter');
  };
  await screen.press('esc');
  await save();
  await screen.waitFor('Saved in the dataset chats');
  await save();
  await screen.waitFor(text => /Already sent to chats \(\d\d:\d\d:\d\d\)/.test(text));
  await screen.waitFor('press enter again');
  expect(sent()).toBe(1);
  await screen.press('enter');
  await screen.waitFor(text => !text.includes('Save the conversation'));
  expect(sent()).toBe(2);
  // It is another trajectory with another task.
  await screen.press('S');
  await screen.waitFor('Save the conversation as a trajectory');
  await screen.press('tab');
  await screen.type('task-1');
  await screen.press('enter');
  await screen.waitFor(text => !text.includes('Save the conversation'));
  expect(sent()).toBe(3);
});

it('says why an answer has not started during a rate limit', async () => {
  const server = await hostileServer((response, request) =>
    request.url.includes('/chat/')
      ? refusal(429, 'rate_limit_error', 'rate_limited', {}, { 'retry-after': '50' })(response, request)
      : json({ items: [], has_more: false })(response, request),
  );
  const screen = openAt(server.url);
  await screen.waitFor('<enter> send');
  await screen.type('hello');
  await screen.press('enter');
  await screen.waitFor('Try again in 50 s');
  // A message sent before then waits at the gate.
  await screen.type('again');
  await screen.press('enter');
  await screen.waitFor(text => /rate limited, retry in \d+s: acme\/small/.test(text));
});

it('continues with the model that answered first, whatever the list of models starts with later (B6)', async () => {
  let slugs = ['acme/alpha', 'acme/omega'];
  const server = await hostileServer((response, request) => {
    if (request.url.includes('/chat/')) {
      const { model } = JSON.parse(request.body) as { model: string };
      return stream([chunkOf(`I am ${model}`), 'data: [DONE]\n\n'])(response, request);
    }
    const models = slugs.map(model_slug => ({ model_slug, model_name: model_slug }));
    const isModels = request.url.includes('supported-training-models');
    return json({ items: isModels ? models : [], has_more: false })(response, request);
  });
  const screen = openAt(server.url, { view: 'chat' });
  await screen.waitFor('acme/alpha');
  await say(screen, 'first');
  await screen.waitFor('I am acme/alpha');
  slugs = slugs.toReversed();
  await screen.workbench.cache.refetchQueries({ queryKey: modelList.key });
  await say(screen, 'second');
  await screen.waitFor(text => (text.match(/I am acme/g) ?? []).length === 2);
  expect(screen.text()).not.toContain('I am acme/omega');
});
