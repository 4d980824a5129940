/** The chat on the screen: two models side by side, and what holds an answer back. */
import { expect, it, onTestFinished } from 'vitest';
import { kinds } from '../../../src/resources/catalogue.ts';
import { systemClock } from '../../../src/service/clock.ts';
import { Program } from '../../../src/ui/app/program.tsx';
import { registry } from '../../../src/ui/views/registry.ts';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';
import { Workbench } from '../../../src/workbench/workbench.ts';
import { openScreen } from '../../screen.ts';
import { hostileServer, json, refusal, serviceAt } from '../../service/hostile-server.ts';
import { noTerminal } from '../stage.tsx';
import { openView } from './actions.tsx';

it('has the numbers of each of two models under its own name', async () => {
  const { screen } = await openView({ view: 'chat', model: 'acme/small' });
  await screen.type('hello');
  await screen.press('enter');
  await screen.waitFor('finished');
  await screen.press('ctrl-o');
  await screen.waitFor('Which model answers?');
  await screen.press('tab', 'tab');
  await screen.waitFor('▸ Second model');
  await screen.press('right');
  await screen.waitFor('talker');
  await screen.press('enter');
  await screen.waitFor('TALKER');
  // The second has not answered yet: what the first one took is not its own.
  const [first = '', second = ''] = screen.text().split('TALKER');
  expect(first).toMatch(/ACME\/SMALL.*finished +stop/s);
  expect(second).toContain('no answer yet');
  expect(second).not.toContain('finished');
  await screen.type('again');
  await screen.press('enter');
  await screen.waitFor(text => /finished +stop/.test(text.split('TALKER')[1] ?? ''));
});

it('says why an answer has not begun while the service limits the rate', async () => {
  const server = await hostileServer((response, request) =>
    request.url.includes('/chat/')
      ? refusal(429, 'rate_limit_error', 'rate_limited', {}, { 'retry-after': '20' })(response, request)
      : json({ items: [], has_more: false })(response, request),
  );
  const { service } = serviceAt(server.url, { clock: systemClock });
  const workbench = new Workbench({ kinds, service: async () => service, gate: service.gate, profile: 'test' });
  const screen = openScreen(
    <Program
      workbench={workbench}
      theme={createTheme()}
      registry={registry}
      terminal={noTerminal}
      start={{ view: 'chat', model: 'acme/small' }}
    />,
    { columns: 120, rows: 30 },
  );
  onTestFinished(() => {
    screen.close();
    workbench.close();
  });
  await screen.waitFor('<enter> send');
  await screen.type('hello');
  await screen.press('enter');
  await screen.waitFor('Try again in 20 s');
  // What is sent before then waits at the gate.
  await screen.type('again');
  await screen.press('enter');
  await screen.waitFor(text => /rate limited, retry in \d+s: acme\/small/.test(text));
});
