/** Commands for the settings and the shell. */
import { defaultAssumptions } from '../../contract/assumptions.ts';
import { jsonFlag, recordFlags, yesFlag } from './flags.ts';
import { type CommandSpec, spec } from './spec.ts';

export const setup = {
  'profile list': spec({
    summary: 'list the profiles in the settings file',
    flags: {
      ...recordFlags,
      field: { ...recordFlags.field, description: 'print only this field of each profile, one per line' },
    },
  }),
  'profile use': spec({
    summary: 'make a profile the default',
    args: [{ name: 'NAME', of: 'profile' }],
    flags: jsonFlag,
  }),
  'profile add': spec({
    summary: 'add a profile for a service, after testing it',
    args: [{ name: 'NAME' }],
    flags: {
      baseUrl: { value: 'URL', short: 'u', description: 'address of the service' },
      apiKeyEnv: { value: 'NAME', description: 'variable that holds the API key' },
      apiKeyFile: { value: 'PATH', description: 'file that holds the API key, mode 0600' },
      apiKeyCommand: { value: 'COMMAND', description: 'command that prints the API key' },
      use: { description: 'make it the default' },
      unchecked: { description: 'do not test the service first' },
      ...jsonFlag,
    },
    exclusive: [['apiKeyEnv', 'apiKeyFile', 'apiKeyCommand']],
    examples: ["benchtop profile add lab --base-url https://lab.example --api-key-command 'pass show lab' --use"],
  }),
  'profile remove': spec({
    summary: 'remove a profile',
    args: [{ name: 'NAME', of: 'profile' }],
    flags: { ...yesFlag, ...jsonFlag },
  }),
  'config path': spec({ summary: 'print the path of the settings file', flags: jsonFlag }),
  'config get': spec({
    summary: 'print the settings, or one of them or its default',
    args: [{ name: 'KEY', of: 'set setting', optional: true }],
    flags: jsonFlag,
    examples: ['benchtop config get profiles.prod.baseUrl'],
  }),
  'config set': spec({
    summary: 'change a setting; the value is JSON or text',
    about: `An open workbench applies changed alarms, notices and priceUnit at once. It names other changes, which apply at
its next start.

If a service has its own name for something, set profiles.PROFILE.assumptions.NAME, where NAME is one of ${Object.keys(
      defaultAssumptions,
    ).join(', ')}, or path.OPERATION.`,
    args: [
      { name: 'KEY', of: 'setting' },
      { name: 'VALUE', of: 'setting value' },
    ],
    flags: jsonFlag,
    examples: [
      'benchtop config set theme dark',
      'benchtop config set poll.focusedSeconds 5',
      'benchtop config set profiles.prod.assumptions.query.limit page_size',
    ],
  }),
  'config unset': spec({
    summary: 'remove a setting, so that its default applies',
    args: [{ name: 'KEY', of: 'set setting' }],
    flags: jsonFlag,
    examples: ['benchtop config unset keys.list.down'],
  }),
  completion: spec({
    summary: 'print a script that completes commands in your shell',
    about: `For bash: source <(benchtop completion bash). For zsh: the same, after compinit. For fish: benchtop completion fish >
~/.config/fish/completions/benchtop.fish.`,
    args: [{ name: 'SHELL', choices: ['bash', 'zsh', 'fish'] }],
    flags: {},
  }),
} as const satisfies Readonly<Record<string, CommandSpec>>;
