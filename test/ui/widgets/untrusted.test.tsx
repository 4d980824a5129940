/** Untrusted text reaches these widgets as a title, a choice, or a caption. */
import { Text } from 'ink';
import { expect, it } from 'vitest';
import { KeyRouter } from '../../../src/ui/keys/router.tsx';
import { Form, useForm } from '../../../src/ui/widgets/form/form.tsx';
import type { FieldSpec } from '../../../src/ui/widgets/form/form-state.ts';
import { ScrollView } from '../../../src/ui/widgets/scroll-view/scroll-view.tsx';
import { useScroll } from '../../../src/ui/widgets/scroll-view/use-scroll.ts';
import { Window } from '../../../src/ui/widgets/window.tsx';
import { openScreen } from '../../screen.ts';

/** Marks without end climb over the lines around; Ink lets them through. */
const hostile = `evil\u202e\u001b[2J model${'\u0301'.repeat(30)} end`;
const nothing = (): void => {};

function Reader() {
  const scroll = useScroll({ lineCount: 1, textAt: () => 'text', height: 2 });
  return <ScrollView scroll={scroll} textAt={() => 'text'} width={40} focused words={hostile} />;
}

function Filled({ fields }: { fields: readonly FieldSpec[] }) {
  const form = useForm(fields);
  return (
    <Form form={form} height={20} width={60} busy={false} onSubmit={nothing} onCancel={nothing} onHelp={nothing} />
  );
}

it.each([
  [
    'a title',
    <Window key="w" title={hostile} width={40} height={4}>
      <Text>inside</Text>
    </Window>,
  ],
  [
    'a choice',
    <Filled
      key="f"
      fields={[{ kind: 'choice', name: 'a', label: 'A', options: [{ value: 'x', label: hostile, note: hostile }] }]}
    />,
  ],
  [
    'a label',
    <Filled
      key="l"
      fields={[
        { kind: 'text', name: 'a', label: hostile, help: hostile },
        { kind: 'text', name: 'b', label: 'B', placeholder: hostile },
        { kind: 'text', name: 'c', label: 'C', initial: `${hostile}\u{e0041}\nmore` },
      ]}
    />,
  ],
  ['words below a text', <Reader key="r" />],
])('%s is made safe', async (_what, node) => {
  const written: string[] = [];
  const screen = openScreen(<KeyRouter>{node}</KeyRouter>, { onBytes: bytes => written.push(bytes) });
  await screen.waitFor('evil mode');
  expect(screen.text()).toContain(' end');
  expect(written.join('')).not.toMatch(/[\u202e\u{e0041}]|\u0301{5}/u);
  screen.close();
});
