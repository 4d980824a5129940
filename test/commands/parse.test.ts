/** Parsing the command line with the table of commands. */
import { describe, expect, it } from 'vitest';
import { helpText } from '../../src/commands/help.ts';
import { parse } from '../../src/commands/parse.ts';
import { commands, workbench } from '../../src/commands/table/commands.ts';
import { type CommandSpec, longFlag } from '../../src/commands/table/spec.ts';

const all: readonly (readonly [string, CommandSpec])[] = Object.entries(commands);

describe('global flags', () => {
  it.each([['--profile lab list runs'], ['list runs --profile lab'], ['list --profile=lab runs']])(
    'work before and after the command: %s',
    line => {
      expect(parse(line.split(' '))).toEqual({
        kind: 'command',
        name: 'list',
        args: ['runs'],
        flags: { profile: 'lab' },
      });
    },
  );

  it('count after the command if both are given', () => {
    expect(parse(['--profile', 'one', 'get', 'evr_1', '--profile', 'two'])).toMatchObject({
      flags: { profile: 'two' },
    });
  });

  it.each([
    [['--mouse', 'list', 'runs'], '--mouse is not for benchtop list: it is for the workbench.'],
    [['--profile', 'x', 'serve'], '--profile is not for benchtop serve'],
  ])('that the command does not take are refused: %j', (words, message) => {
    expect(() => parse(words)).toThrow(message);
  });

  it('open the workbench without a command', () => {
    expect(parse([])).toEqual({ kind: 'workbench', flags: {} });
    expect(parse(['--read-only', '--theme', 'dark'])).toEqual({
      kind: 'workbench',
      flags: { readOnly: true, theme: 'dark' },
    });
  });
});

describe('invalid arguments', () => {
  it.each([
    [['lsit'], "Unknown command 'lsit'. Did you mean list?"],
    [['eval'], "Unknown command 'eval'. Did you mean evaluate?"],
    [['nope'], "Unknown command 'nope'. benchtop --help lists the commands."],
    [['x'], "Unknown command 'x'. benchtop --help lists the commands."],
    [['list', 'runs', '--nope'], /^Unknown option '--nope'\.$/],
    [['build', 't-words', '--wait=yes'], '--wait takes no value.'],
    [['export', '--run', 'x'], "Unknown option '--run'. Usage: benchtop export [WHAT] [ID|NAME…] [options]."],
    [['watch', '--training', 'x'], "Unknown option '--training'. Usage: benchtop watch [KIND|ID…] [options]."],
    [['search', 'wrong', '--run', 'x'], "Unknown option '--run'. Did you mean --in?"],
    [['list', 'runs', '--benchmrak', 'x'], "Unknown option '--benchmrak'. Did you mean --benchmark?"],
    [['--profil', 'x', 'list'], "Unknown option '--profil'. Did you mean --profile?"],
    [['list', 'runs', '--limit', '0'], '--limit takes a whole number of at least 1, not 0.'],
    [['list', 'runs', '--limit', '1e300'], '--limit takes a whole number of at least 1, not 1e300.'],
    [['list', 'runs', '--limit', '9007199254740993'], /^A number in --limit cannot be sent exactly\./],
    [['reward', 't', 'n', '1', '--weight', '1e-400'], /^A number in --weight cannot be sent exactly\./],
    [['list', 'runs', '--limit'], '--limit needs a value.'],
    [['list', 'runs', '--sort', '--json'], '--sort needs a value before --json.'],
    [['list', 'runs', '--format', 'xml'], '--format takes one of table, json, jsonl, csv, markdown, lines, not xml.'],
    [['watch', '--timeout', 'soon'], '--timeout takes a number above 0, not soon.'],
    [['watch', '--timeout', 'Infinity'], '--timeout takes a number above 0, not Infinity.'],
    [['compare', 'a', 'b', '--fail-below', '-Infinity'], '--fail-below takes a number, not -Infinity.'],
    [['list'], 'An argument is missing. Usage: benchtop list WHAT'],
    [
      ['list', 'runs', 'models'],
      /^One argument too many: models\. .* Did you mean it for one of --benchmark, --run.*--filter/,
    ],
    [['build', 'a', 'b'], /^One argument too many: b\. Usage: benchtop build BENCHMARK \[options\]\.$/],
    [['serve', '--status', '--stop'], '--status cannot be used with --stop.'],
    [['chat', 'm', '-x', 'hello'], "Unknown option '-x'."],
    [['lsit', '--help'], "Unknown command 'lsit'. Did you mean list?"],
    [['help', 'lsit'], "Unknown command 'lsit'. Did you mean list?"],
    [['help', 'secret', 'ste'], "Unknown command 'ste'. Did you mean set?"],
    [['chat', 'm', '--profile'], '--profile needs a value.'],
    [['chat', 'm', 'hi', '--temprature', '0'], "Unknown option '--temprature'. Did you mean --temperature?"],
    [['chat', 'm', 'hi', '--jsn'], "Unknown option '--jsn'. Did you mean --json?"],
    [['chat', 'm', 'hi', '--profil=x'], "Unknown option '--profil=x'. Did you mean --profile?"],
    [['lsit', '--ids'], "Unknown command 'lsit'. Did you mean list?"],
    [['secret'], 'benchtop secret needs one of these words: set.'],
    [['serve', '--json', '--jq', '.'], 'This command has no --jq: pipe its JSON into jq'],
    [['--json'], '--json is for commands'],
  ])('are refused with a suggestion: %j', (words, message) => {
    expect(() => parse(words)).toThrow(message);
  });
});

it('takes combined short flags, a value right after its short flag, and a negative number as an argument', () => {
  expect(parse(['list', 'runs', '-rwL5', '--sort', 'mean'])).toMatchObject({
    flags: { reverse: true, wide: true, limit: 5 },
  });
  expect(parse(['reward', 'trj_1', 'tone', '-0.5'])).toMatchObject({ args: ['trj_1', 'tone', '-0.5'] });
  const range = ['compare.rewardRange', '-5..-.5'];
  expect(parse(['config', 'set', ...range])).toMatchObject({ args: range });
});

it('takes --json together with --jq and --field, which imply it (out26 C1)', () => {
  for (const more of [
    ['--jq', '.status'],
    ['--field', 'status'],
  ])
    expect(parse(['get', 'evr_1', '--json', ...more])).toEqual(parse(['get', 'evr_1', ...more]));
});

it('takes a flag whose name begins with no (C5)', () => {
  expect(parse(['chat', 'm', 'hi'])).toMatchObject({ flags: {} });
  expect(parse(['chat', 'm', 'hi', '--no-stream'])).toMatchObject({ args: ['m', 'hi'], flags: { noStream: true } });
});

describe('the text of a chat', () => {
  it('keeps its dashes; known flags may follow', () => {
    const line = [
      'chat',
      'm',
      'what',
      'does',
      '-h',
      'do',
      'in',
      'ls',
      '-lh',
      '--max-tokens',
      '7',
      '--',
      '--json',
      '--json',
    ];
    expect(parse(line)).toEqual({
      kind: 'command',
      name: 'chat',
      args: ['m', 'what', 'does', '-h', 'do', 'in', 'ls', '-lh', '--json', '--json'],
      flags: { maxTokens: 7 },
    });
  });

  it.each([
    [['chat', 'm', '-h'], 'help'],
    [['chat', '--help'], 'help'],
    [['--help', 'chat'], 'help'],
    [['chat', '--system', 'x', 'm', '--help'], 'help'],
    [['chat', 'm', 'what', 'does', '-h', 'do'], 'command'],
    [['chat', 'm', 'what', 'does', '--help'], 'help'],
    [['chat', 'm', 'what does --help do'], 'command'],
    [['chat', 'm', '--', 'what', 'does', '--help'], 'command'],
    [['chat', 'm', '--', '-h'], 'command'],
  ])('is not confused with a request for help: %j', (words, kind) => {
    expect(parse(words).kind).toBe(kind);
  });
});

describe('help', () => {
  const textOf = async (words: readonly string[], width?: number): Promise<string> => {
    const parsed = parse(words);
    return parsed.kind === 'help' ? helpText(parsed.name, width) : '';
  };

  it.each(all)('of %s names each flag, in 80 columns', async (name, { flags }) => {
    const text = await textOf([...name.split(' '), '--help']);
    expect(text).toMatch(new RegExp(`^Usage: benchtop ${name}`));
    expect(text).toBe(await textOf(['help', ...name.split(' ')]));
    for (const [key, flag] of Object.entries(flags)) {
      if (!flag.hidden && flag.group !== 'service') expect(text).toContain(longFlag(key));
    }
    const lines = text.slice(0, text.indexOf('\nExamples:') >>> 0).split('\n');
    expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(80);
    expect(await textOf(['--help'])).toMatch(new RegExp(`^ {2}${name.split(' ')[0]}\\b`, 'm'));
  });

  it('of the program names the flags of the workbench and the service, and fits the terminal', async () => {
    const text = await textOf(['--help']);
    for (const key of Object.keys(workbench.flags)) expect(text).toContain(longFlag(key));
    const narrow = (await textOf(['-h'], 60)).split('\n');
    expect(Math.max(...narrow.map(line => line.length))).toBeLessThanOrEqual(80);
    expect(Math.max(...text.split('\n').map(line => line.length))).toBeLessThanOrEqual(80);
  });
});

it.each([[['--version']], [['-V']]])('prints the version for %j', words => {
  expect(parse(words)).toEqual({ kind: 'version', json: false });
});

it('gives no command two flags of the same name, long or short', () => {
  for (const [name, { flags }] of all) {
    const shorts = Object.values(flags).flatMap(({ short }) => short ?? []);
    expect([name, new Set(shorts).size]).toEqual([name, shorts.length]);
    expect(shorts).not.toContain('h');
  }
});
