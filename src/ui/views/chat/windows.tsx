/** The chat's windows: model, parameters, saved conversations. */
import { useRef, useState } from 'react';
import type { StoredConversation } from '../../../chat/saved.ts';
import type { ChatSettings } from '../../../chat/session.ts';
import { agoOf } from '../../../present/times.ts';
import { type StoreOutcome, storeTrajectories } from '../../../queries/trajectories.ts';
import type { SavedChat } from '../../../store/store.ts';
import { counted } from '../../../text/numbers.ts';
import { clean } from '../../../text/sanitise.ts';
import { storeOnce } from '../../../uploads/store-once.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useWorkbench } from '../../data/workbench.tsx';
import { formCommands } from '../../keys/general.ts';
import { useKeyOf } from '../../keys/router.tsx';
import type { FieldSpec, FormValues } from '../../widgets/form/form-state.ts';
import { ChoiceWindow } from '../../windows/choice-window.tsx';
import { FormWindow, PlainFormWindow } from '../../windows/form-window.tsx';

interface SettingsWindowProps {
  readonly settings: ChatSettings;
  readonly onChange: (settings: ChatSettings) => void;
  readonly onClose: () => void;
}

interface ModelWindowProps extends SettingsWindowProps {
  /** Listed models and active deployments. */
  readonly slugs: readonly string[];
}

export function ModelWindow({ settings, slugs, onChange, onClose }: ModelWindowProps) {
  // Created once: lists may arrive while the user is choosing.
  const [fields] = useState(() => modelFields(settings, slugs));
  return (
    <PlainFormWindow
      title="Which model should answer?"
      fields={fields}
      onClose={onClose}
      onSubmit={values =>
        onChange({
          ...settings,
          model: values['typed']?.trim() || values['listed'] || settings.model,
          secondModel: values['second'] || undefined,
        })
      }
    />
  );
}

function modelFields({ model, secondModel = '' }: ChatSettings, slugs: readonly string[]): readonly FieldSpec[] {
  const optionsOf = (...known: readonly string[]) =>
    [...new Set(known)].filter(slug => slug !== '').map(slug => ({ value: slug, label: slug }));
  const options = optionsOf(model, ...slugs);
  const others = slugs.filter(slug => slug !== model);
  return [
    ...(options.length > 0
      ? [{ kind: 'choice' as const, name: 'listed', label: 'Model', options, initial: model }]
      : []),
    {
      kind: 'text',
      name: 'typed',
      label: 'Or type a slug',
      placeholder: 'optional',
      check: value => (/\s/.test(value.trim()) ? 'A slug has no spaces' : undefined),
    },
    {
      kind: 'choice',
      name: 'second',
      label: 'Second model (optional)',
      options: [{ value: '', label: 'none' }, ...optionsOf(secondModel, ...others, model)],
      initial: secondModel,
      help: 'For comparing the base model with a checkpoint on the same prompt.',
    },
  ];
}

type NumberCheck = (value: number) => string | undefined;

/** An optional number; if empty, the service decides. */
function numberField(name: string, label: string, initial: number | undefined, check: NumberCheck): FieldSpec {
  return {
    kind: 'text',
    name,
    label,
    initial: initial === undefined ? '' : String(initial),
    placeholder: 'service default',
    check: value => {
      if (value.trim() === '') return undefined;
      const number = Number(value);
      return Number.isFinite(number) ? check(number) : 'Type a number';
    },
  };
}

function numberOf(value: string | undefined): number | undefined {
  return value === undefined || value.trim() === '' ? undefined : Number(value);
}

export function SettingsWindow({ settings, onChange, onClose }: SettingsWindowProps) {
  const fields: readonly FieldSpec[] = [
    {
      kind: 'text',
      name: 'system',
      label: 'System prompt',
      initial: settings.system,
      placeholder: 'none',
      multiline: true,
    },
    numberField('temperature', 'Temperature', settings.temperature, value => (value < 0 ? 'Not below 0' : undefined)),
    numberField('top_p', 'Top p', settings.top_p, value =>
      value <= 0 || value > 1 ? 'Above 0, at most 1' : undefined,
    ),
    numberField('max_tokens', 'Token limit', settings.max_tokens, value =>
      Number.isInteger(value) && value >= 1 ? undefined : 'A whole number, at least 1',
    ),
  ];
  return (
    <PlainFormWindow
      title="Parameters"
      fields={fields}
      onClose={onClose}
      onSubmit={values =>
        onChange({
          ...settings,
          system: values['system'] ?? '',
          temperature: numberOf(values['temperature']),
          top_p: numberOf(values['top_p']),
          max_tokens: numberOf(values['max_tokens']),
        })
      }
    />
  );
}

interface EarlierWindowProps {
  readonly chats: readonly SavedChat[];
  readonly onChoose: (id: string) => void;
  readonly onClose: () => void;
}

/** The saved conversations. The user can continue one of them. */
export function EarlierWindow({ chats, onChoose, onClose }: EarlierWindowProps) {
  return (
    <ChoiceWindow
      title="Earlier conversations"
      choices={chats.map(chat => ({
        key: chat.id,
        label: clean`${agoOf(chat.at)}  ${chat.model}  ${chat.isIncomplete ? '(incomplete answer) ' : ''}${chat.title}`,
        value: chat.id,
      }))}
      emptyText="No saved conversations yet."
      onChoose={onChoose}
      onClose={onClose}
    />
  );
}

/** Confirms deleting a conversation. Needs no service. */
export function ForgetWindow(props: { title: string; choices: number; onForget: () => void; onClose: () => void }) {
  const { title, choices, onForget, onClose } = props;
  const counts = choices === 0 ? '' : `; its ${counted(choices, 'choice')} still ${choices === 1 ? 'counts' : 'count'}`;
  return (
    <ChoiceWindow
      title={clean`Forget “${title}”?`}
      choices={[
        { key: 'keep', label: 'Keep it', value: false },
        { key: 'forget', label: `Delete it, also from disk${counts}`, value: true },
      ]}
      onChoose={forgets => forgets && onForget()}
      onClose={onClose}
    />
  );
}

export interface SaveWindowProps {
  /** The conversations, one for each model. */
  readonly halves: (taskId: string) => readonly StoredConversation[];
  /** An earlier attempt's dataset, task and outcome. */
  readonly initial?: { readonly dataset: string; readonly task: string; readonly outcome: string };
  /** Called with the halves that were refused, so that the user can try again. */
  readonly onRefused: (props: Omit<SaveWindowProps, 'onRefused' | 'onClose'>) => void;
  readonly onClose: () => void;
}

const saveFields = (initial: SaveWindowProps['initial']): readonly FieldSpec[] => [
  {
    kind: 'text',
    name: 'dataset',
    label: 'Into the dataset',
    initial: initial?.dataset ?? 'chats',
    check: value => (value.trim() === '' ? 'Name the dataset' : undefined),
  },
  {
    kind: 'text',
    name: 'task',
    label: 'Task id (optional)',
    placeholder: 'none',
    ...(initial && { initial: initial.task }),
  },
];

/** Stores one conversation, or two in one request, as trajectories in a dataset. */
export function SaveWindow({ halves, initial, onRefused, onClose }: SaveWindowProps) {
  const { toast } = useShell();
  const made = halves('');
  const models = made.map(({ model }) => model);
  const [fields] = useState(() => saveFields(initial));
  const { remembered } = useWorkbench();
  const keyOf = useKeyOf();
  const [store] = useState(() => storeOnce(remembered.trajectoryUploads, `press ${keyOf(formCommands.submit)} again`));
  const task = useRef('');
  const inputOf = (values: FormValues) => {
    task.current = values['task']?.trim() ?? '';
    const trajectories = halves(task.current).map(({ item }) => item);
    return { dataset: values['dataset']?.trim() ?? '', trajectories };
  };
  const done = ({ dataset, refused }: StoreOutcome): void => {
    const stored = models.filter((_, index) => !refused.has(index));
    const [first] = refused;
    if (first) {
      const [index, reason] = first;
      const text = clean`In the dataset ${dataset}: ${stored.join(', ')}. Refused: ${models[index] ?? ''}, ${reason}`;
      toast({ kind: 'warning', text, news: true });
      onRefused({
        halves: taskId => halves(taskId).filter((_, each) => refused.has(each)),
        initial: { dataset, task: task.current, outcome: text },
      });
    } else {
      const what = models.length > 1 ? 'Both are saved' : 'Saved';
      toast({ kind: 'success', text: clean`${what} in the dataset ${dataset}` });
    }
  };
  const isPair = models.length > 1;
  const about = [
    ...(isPair ? [clean`${models.join(' and ')}, with their parameters and your choices`] : []),
    ...made.flatMap(({ model, notes }) => notes.map(words => (isPair ? clean`${model}: ${words}` : words))),
  ];
  const title = isPair
    ? 'Save both conversations as trajectories'
    : initial
      ? clean`Save the answers from ${models[0] ?? ''} as a trajectory`
      : 'Save the conversation as a trajectory';
  return (
    <FormWindow
      title={title}
      fields={fields}
      action={store}
      describe={storeTrajectories}
      inputOf={inputOf}
      summary={() => initial?.outcome ?? (about.length > 0 ? about.join('; ') : undefined)}
      onDone={done}
      onClose={onClose}
    />
  );
}
