/** How the reader shows trajectories in the formats of the document, OpenAI and Anthropic. */
import { describe, expect, it } from 'vitest';
import { type TrajectoryMessage, trajectory as trajectorySchema } from '../../../../src/contract/trajectories.ts';
import { factText } from '../../../../src/present/fact-text.ts';
import { type FoldKind, transcriptOf } from '../../../../src/present/transcript.ts';
import { layOut, transcriptText } from '../../../../src/present/transcript-lines.ts';
import { trajectoryFacts } from '../../../../src/resources/trajectories.ts';

const read = (messages: readonly object[], more: object = {}) =>
  trajectorySchema.parse({ trajectory_id: 't', steps: [{ step_index: 0, messages }], ...more });

/** The lines below the title of the step, as the screen shows them, without the numbers of the messages. */
function shown(messages: readonly object[], open: readonly FoldKind[] = [], width = 80): string[] {
  const transcript = transcriptOf(read(messages), { showHidden: false });
  const marks = { bar: '│', opens: (fold: FoldKind) => `${fold === 'reasoning' ? 'z' : 'Z'} opens` };
  const lines = layOut(transcript, width, marks)({ kinds: new Set(open), places: new Set() });
  return Array.from({ length: lines.length }, (_, index) => lines.at(index)?.text ?? '')
    .slice(1)
    .map(line => line.replace(/ {2}· {2}#\d+(?= {2}·|$)/, ''))
    .filter(line => line !== '');
}

const command = 'cd /repo && pytest -q tests/test_0.py\necho done\necho twice';
const openAiCall = (id: string, args: object, name = 'bash') => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});

describe('a folded tool call', () => {
  const line = '  bash  cd /repo && pytest -q tests/test_0.py  (+2 lines) (Z opens)';

  it.each<[string, object]>([
    ['OpenAI', { role: 'assistant', content: null, tool_calls: [openAiCall('call_0', { command })] }],
    ['the document', { role: 'assistant', tool_calls: JSON.stringify([openAiCall('call_0', { command })]) }],
    ['one call alone', { role: 'assistant', tool_calls: { name: 'bash', arguments: { command } } }],
    ['Anthropic', { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'bash', input: { command } }] }],
    ['functions', { role: 'assistant', function_call: { name: 'bash', arguments: JSON.stringify({ command }) } }],
  ])('is one line with the command first: %s (R2)', (_, message) => {
    expect(shown([message])).toEqual(['assistant', line]);
  });

  it('shows the other arguments after the command, and no key if nothing is hidden (R2)', () => {
    const call = openAiCall('c', { timeout: 5, command: 'ls', flags: ['a'] });
    expect(shown([{ role: 'assistant', tool_calls: [call] }])).toEqual([
      'assistant',
      '  bash  ls  timeout=5  flags=["a"]',
    ]);
    const edit = openAiCall('c', { command: 'view', path: '/a.py' }, 'edit');
    expect(shown([{ role: 'assistant', tool_calls: [edit] }])).toEqual(['assistant', '  edit  view  /a.py']);
  });

  it('is cut at the width, and names the key if the command has enough room (R2)', () => {
    const call = openAiCall('c', { command: 'x'.repeat(200) });
    const cut = (width: number) => shown([{ role: 'assistant', tool_calls: [call] }], [], width)[1];
    expect(cut(60)).toHaveLength(60);
    expect(cut(60)).toMatch(/^ {2}bash {2}x+… \(Z opens\)$/);
    expect(cut(40)).toHaveLength(40);
    expect(cut(40)).toMatch(/^ {2}bash {2}x+…$/);
  });

  it('gives the command the room of its id, if both do not fit', () => {
    const calls = [openAiCall('call_of_a_long_id', { command: `${'y'.repeat(30)}\nls` }), openAiCall('c', {})];
    const cut = (width: number) => shown([{ role: 'assistant', tool_calls: calls }], [], width)[1];
    expect(cut(80)).toBe(`  bash  ${'y'.repeat(30)}  (+1 line) (call_of_a_long_id, Z opens)`);
    expect(cut(60)).toBe(`  bash  ${'y'.repeat(30)}  (+1 line) (Z opens)`);
    expect(cut(50)).toBe(`  bash  ${'y'.repeat(30)}  (+1 line)`);
  });

  describe.each([
    ['arrays', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['an argument', `{"command":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['parts', `[{"type":"x","a":${'['.repeat(100_000)}${']'.repeat(100_000)}}]`],
  ])('shows JSON in a text unchanged if it is nested 100,000 levels deep: %s (X11)', (_, deep) => {
    it.each<[string, object]>([
      ['arguments', { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'bash', arguments: deep } }] }],
      ['calls', { role: 'assistant', tool_calls: deep }],
      ['calls within', { role: 'assistant', tool_calls: `[{"name":"bash","arguments":${deep}}]` }],
      ['a response', { role: 'tool', tool_response: deep }],
      ['a response within', { role: 'tool', tool_response: `[{"tool_call_id":"c","content":${deep}}]` }],
      ['content', { role: 'tool', content: deep }],
      ['reasoning', { role: 'assistant', reasoning: deep }],
    ])('%s', (_where, message) => {
      for (const open of [[], ['tools'], ['reasoning']] satisfies FoldKind[][])
        expect(shown([message], open).length).toBeGreaterThan(1);
    });
  });

  it('shows its content if it is not a call or not JSON (R2)', () => {
    expect(shown([{ role: 'assistant', tool_calls: 'bash(ls)\nmore' }])).toEqual([
      'assistant',
      '  bash(ls)  (+1 line) (Z opens)',
    ]);
    expect(shown([{ role: 'assistant', tool_calls: [{ strange: 1 }] }])).toEqual(['assistant', '  {"strange":1}']);
    expect(shown([{ role: 'assistant', tool_calls: [] }])).toEqual(['assistant', '  (empty)']);
  });

  it('unfolds to its arguments, with numbers and repeated keys as written (R2)', () => {
    const args = '{"command":"a\\nb","n":12345678901234567890,"n":2}';
    const message = { role: 'assistant', tool_calls: [{ id: 'call_0', function: { name: 'bash', arguments: args } }] };
    expect(shown([message], ['tools'])).toEqual([
      'assistant',
      '  call bash (call_0)',
      '    "command": |',
      '      a',
      '      b',
      '    "n": 12345678901234567890,',
      '    "n": 2',
    ]);
  });
});

describe('a response', () => {
  const output = Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\n');
  const folded = [
    '    line 0',
    '    line 1',
    '    … 35 more lines (Z opens)',
    '    line 37',
    '    line 38',
    '    line 39',
  ];

  it('shows its first 2 and last 3 lines and the count when folded (R2)', () => {
    expect(
      shown([{ role: 'assistant', tool_response: JSON.stringify({ tool_call_id: 'call_0', content: output }) }]),
    ).toEqual(['assistant', '  result (call_0)', ...folded]);
    expect(shown([{ role: 'tool', tool_call_id: 'call_0', content: output }])).toEqual([
      'tool  ·  result (call_0)',
      ...folded.map(line => line.slice(2)),
    ]);
    expect(shown([{ role: 'tool', content: 'a\nb\nc\nd\ne\nf' }])).toHaveLength(7);
  });

  it('names its call, and its command if there were several (R4)', () => {
    const one = [
      { role: 'assistant', tool_calls: [openAiCall('call_0', { command: 'ls' })] },
      { role: 'tool', tool_call_id: 'call_0', content: 'a' },
    ];
    expect(shown(one)).toContain('tool  ·  result of bash (call_0)');
    const two = [
      {
        role: 'assistant',
        tool_calls: [openAiCall('call_0', { command: 'ls' }), openAiCall('call_1', { command: 'pwd' })],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '/' },
      { role: 'tool', tool_call_id: 'call_0', content: 'a' },
    ];
    expect(shown(two)).toEqual([
      'assistant',
      '  bash  ls (call_0)',
      '  bash  pwd (call_1)',
      'tool  ·  result of bash (call_1)  pwd',
      '  /',
      'tool  ·  result of bash (call_0)  ls',
      '  a',
    ]);
    const silent = [one[0] ?? {}, { role: 'tool', tool_call_id: 'call_0', content: '' }];
    expect(shown(silent).slice(-2)).toEqual(['tool  ·  result of bash (call_0)', '  (empty)']);
    expect(shown([{ role: 'tool', name: 'search', content: 'x' }])).toContain('tool  ·  result of search');
  });

  it('says that it is an error, and is reached by the key for the next error (R4)', () => {
    const messages = [
      { role: 'tool', tool_call_id: 'c', content: 'no', is_error: true },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'd', is_error: true, content: 'bad' }] },
    ];
    expect(shown(messages)).toEqual([
      'tool  ·  error  ·  result (c)',
      '  no',
      'user',
      '  result (d)  ·  error',
      '    bad',
    ]);
    expect(transcriptOf(read(messages), { showHidden: false }).errors).toHaveLength(2);
  });
});

describe('reasoning', () => {
  const message = { role: 'assistant', reasoning: 'first\nsecond\n', content: 'the answer' };

  it('has a heading and a bar when open, and one line with its key when folded (R3)', () => {
    expect(shown([message])).toEqual(['assistant', '  reasoning, 13 characters (z opens)', '  the answer']);
    expect(shown([message], ['reasoning'])).toEqual([
      'assistant',
      '  reasoning, 13 characters',
      '  │ first',
      '  │ second',
      '  the answer',
    ]);
  });

  it('has its bar before wrapped lines too, and in plain text (R3)', () => {
    const long = { role: 'assistant', reasoning: 'word '.repeat(40).trim(), content: 'x' };
    const [, , ...lines] = shown([long], ['reasoning'], 40);
    expect(lines.slice(0, -1).every(line => line.startsWith('  │ word'))).toBe(true);
    expect(lines.every(line => line.length <= 40)).toBe(true);
    expect(transcriptText(read([message]), 60)).toContain(
      '  reasoning, 13 characters\n  | first\n  | second\n  the answer\n',
    );
  });

  it('is read from every field and part that contains it, once (R4, R7)', () => {
    expect(shown([{ role: 'assistant', reasoning: 'r', reasoning_content: 'r', content: 'x' }])).toHaveLength(3);
    for (const from of [
      { reasoning_content: 'hm' },
      { content: [{ type: 'thinking', thinking: 'hm', signature: 'abc' }] },
      { content: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] }] },
    ]) {
      expect(shown([{ role: 'assistant', ...from }], ['reasoning'])).toEqual([
        'assistant',
        '  reasoning, 2 characters',
        '  │ hm',
      ]);
    }
  });
});

describe('parts of content', () => {
  const bytes = 288 * 1024;
  const data = 'iVBORw0KGgo'.padEnd((bytes * 4) / 3, 'aB3/');

  it('have their own lines (R7)', () => {
    const content = [{ type: 'text', text: 'Hello' }, { type: 'text', text: 'Second part' }, 'third'];
    expect(shown([{ role: 'user', content }])).toEqual(['user', '  Hello', '  Second part', '  third']);
  });

  it.each<[string, object]>([
    ['OpenAI', { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }],
    ['responses', { type: 'input_image', image_url: `data:image/png;base64,${data}` }],
    ['Anthropic', { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }],
    ['MCP', { type: 'image', data, mimeType: 'image/png' }],
    ['Hugging Face', { type: 'image', image: `data:image/png;base64,${data}` }],
  ])('show an image by type and size: %s (R7)', (_, part) => {
    expect(shown([{ role: 'user', content: [part] }])).toEqual(['user', '  [image png 288 KB]']);
    const result = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 'seen' }, part] }],
    };
    expect(shown([result])).toEqual(['user', '  result (c)', '    seen', '    [image png 288 KB]']);
    expect(transcriptText(read([{ role: 'user', content: [part] }]), 80)).not.toContain('aB3/');
  });

  it('show images by URL, and files by name (R7)', () => {
    const image = { type: 'image_url', image_url: { url: 'https://e.org/a.png' } };
    const file = { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${data}` } };
    expect(shown([{ role: 'user', content: [image, file] }])).toEqual([
      'user',
      '  [image https://e.org/a.png]',
      '  [file a.pdf pdf 288 KB]',
    ]);
  });

  it('never show base64, anywhere (R7)', () => {
    const url = `data:image/png;base64,${data}`;
    const messages = [
      { role: 'user', content: `look ![x](${url}) there` },
      { role: 'user', content: [{ type: 'strange', blob: data, url }] },
      { role: 'assistant', tool_calls: [openAiCall('c', { image: url })], screenshot: data },
      { role: 'tool', tool_response: JSON.stringify({ stdout: 'a', image: data }) },
    ];
    const lines = shown(messages, ['tools']);
    expect(lines.join('\n')).not.toContain('aB3/');
    expect(lines).toContain('  look ![x]([image png 288 KB]) there');
    expect(lines).toContain('    "blob": [base64 288 KB],');
    expect(lines).toContain('    screenshot: [base64 288 KB]');
  });

  it('show unknown parts as JSON, and the text of a long word (R7)', () => {
    expect(shown([{ role: 'user', content: [{ type: 'new', value: { a: 1 } }] }])).toEqual([
      'user',
      '  {',
      '    "type": "new",',
      '    "value": {',
      '      "a": 1',
      '    }',
      '  }',
    ]);
    const word = 'a'.repeat(4_000);
    expect(shown([{ role: 'user', content: [{ type: 'new', value: word }] }], [], 10_000)[3]).toContain(word);
  });

  it('come from the field in which the local service stores them (R7)', () => {
    const parts = [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ];
    expect(shown([{ role: 'user', content: 'onetwo', content_parts: parts }])).toEqual(['user', '  one', '  two']);
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const withImage = { role: 'user', content: 'onetwo', content_parts: [...parts, image] };
    expect(shown([withImage])).toEqual(['user', '  one', '  two', expect.stringContaining('[image')]);
    expect(shown([{ role: 'user', name: 'ann', content: 'hello' }])).toEqual(['user ann', '  hello']);
    expect(shown([{ role: 'user', content: 'another', content_parts: parts }])).toEqual(['user', '  another']);
  });
});

it('shows a refusal as a refusal, not as an empty message (R4)', () => {
  expect(shown([{ role: 'assistant', content: null, refusal: 'I will not.' }])).toEqual([
    'assistant',
    '  refusal',
    '    I will not.',
  ]);
  expect(shown([{ role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }])).toContain('    No.');
});

it('shows unknown fields (R4)', () => {
  const message = { role: 'user', content: 'x', mood: 'good', empty: [], nothing: null };
  expect(shown([message])).toEqual(['user', '  x', '  other fields', '    mood: good']);
  const withStep = trajectorySchema.parse({
    trajectory_id: 't',
    steps: [{ step_index: 0, info: { seed: 1 }, messages: [{ role: 'user', content: 'x' }] }],
  });
  expect(transcriptText(withStep, 60)).toContain('  other fields\n    info: {"seed":1}\n');
});

it('shows an unknown field once, as long as the messages of that role have it (C3)', () => {
  const answer = (model: string, more = {}) => ({ role: 'assistant', content: 'x', model, ...more });
  const user = { role: 'user', content: 'x', model: 'a' };
  const lines = shown([answer('a'), user, answer('a'), answer('a', { mood: 'good' }), answer('b'), answer('b')]);
  const others = lines.flatMap(line => (/^ {4}\w+: /.test(line) ? line.trim() : []));
  expect(others).toEqual(['model: a', 'model: a', 'mood: good', 'model: b']);
  expect(lines).not.toContain('  (empty)');
});

it('keeps a message whose fields have unexpected types (R4)', () => {
  const message = { role: 'tool', is_error: 'true', refusal: { a: 1 }, name: 7, tool_call_id: 3, content: 5 };
  expect(shown([message])[0]).toBe('tool  ·  error  ·  result of 7 (3)');
  const odd = trajectorySchema.parse({
    trajectory_id: 't',
    rewards: { tests: 1 },
    metrics: [1],
    execution_metrics: 'x',
  });
  expect(factText(trajectoryFacts(odd), 80)).toContain('\nRewards\ntests');
});

it('shows rewards with their explanations, metrics and unknown fields, in the facts and at the end (R4)', () => {
  const trajectory = read([{ role: 'user', content: 'x' } satisfies TrajectoryMessage], {
    rewards: [{ reward_id: 'r', name: 'tests', value: 1, weight: 0.5, explanation: 'all hidden tests pass', extra: 2 }],
    metrics: { turns: 3 },
    execution_metrics: { wall_s: 1.5 },
    step: 4,
    policy_step: 4,
    seed: 7,
    token_use: { in: 3, of: { a: 1 } },
    num_steps: 7,
    eval_run_id: 'evr_1',
    organization_id: 'org_1',
    dataset_gcs_prefix: 'gs://x',
    model_association_metadata: { eval_run_id: 'evr_1', step: 4, by: 'slug' },
  });
  const facts = factText(trajectoryFacts(trajectory), 80);
  for (const line of [
    /^Rewards\ntests +1\.00 {2}· {2}weight 0\.5 {2}· {2}all hidden tests pass {2}· {2}extra 2$/m,
    /^Metrics\nturns +3$/m,
    /^Execution metrics\nwall_s +1\.5$/m,
    /^Other fields\nseed +7$/m,
    /^Token use\nin +3\nof +\{"a":1\}$/m,
    /^steps +7, 1 of them sent by the service$/m,
    /^organization +org_1$/m,
    /^dataset prefix +gs:\/\/x$/m,
    /^Model association\nby +slug$/m,
  ]) {
    expect(facts).toMatch(line);
  }
  const { blocks } = transcriptOf(trajectory, { showHidden: false, details: true });
  expect(blocks.map(({ text }) => text)).toEqual(
    expect.arrayContaining(['Rewards', 'tests  1.00  ·  weight 0.5  ·  all hidden tests pass  ·  extra 2']),
  );
});

it('shows the text of a document under its title, which Anthropic sends as text or as parts', () => {
  const documentOf = (source: object) => ({ type: 'document', title: 'notes', source });
  const plain = { type: 'text', media_type: 'text/plain', data: 'The answer is 8.' };
  const inParts = { type: 'content', content: [{ type: 'text', text: 'Not 9.' }] };
  const message = { role: 'user', content: [documentOf(plain), documentOf(inParts)] };
  const { blocks } = transcriptOf(read([message]), { showHidden: false, details: true });
  const shown = blocks.map(({ text }) => text).join('\n');
  expect(shown).toContain('[document notes]\nThe answer is 8.');
  expect(shown).toContain('[document notes]\nNot 9.');
});

it('shows thoughts in the text of an answer as reasoning, and says where they are', () => {
  const of = (role: string, content: string) => shown([{ role, content }]);
  expect(of('assistant', '<think>\nI add.\n</think>\n\n  It is 4.')).toEqual([
    'assistant',
    '  reasoning, 6 characters, in <think> (z opens)',
    '    It is 4.',
  ]);
  expect(of('assistant', 'I add.\n</think>\nIt is 4.')).toEqual([
    'assistant',
    '  reasoning, 6 characters, up to </think> (z opens)',
    '  It is 4.',
  ]);
  expect(of('assistant', '<thinking>I add')).toEqual([
    'assistant',
    '  reasoning, 5 characters, in <thinking> without an end (z opens)',
  ]);
  expect(of('assistant', 'Write <think> and\n</think> around it.')).toHaveLength(3);
  expect(of('user', '<think>\nI add.\n</think>')).toContain('  I add.');
});
