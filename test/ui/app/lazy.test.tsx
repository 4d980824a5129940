/** Views and windows whose code cannot be loaded. */
import { describe, it } from 'vitest';
import { partMissing } from '../../../src/base/errors.ts';
import { lazyView, lazyWindow } from '../../../src/ui/app/lazy.tsx';
import { openOnStage, openViewOnStage } from '../stage.tsx';

const missing = (code: string) => Object.assign(new Error('/x/y.js is not there'), { code });
const shownOf = (text: string): string => text.replace(/[│\s]+/g, ' ');

describe.each<readonly [string, Error, string]>([
  ['that is missing', missing('ERR_MODULE_NOT_FOUND'), partMissing],
  ['whose file is missing', missing('ENOENT'), partMissing],
  [
    'that fails',
    new SyntaxError('Unexpected \u001b[31mtoken'),
    'This part of benchtop could not be loaded: Unexpected token',
  ],
])('a part %s', (_, error, words) => {
  it('reports it as a view', async () => {
    const Failing = lazyView<'list'>(() => Promise.reject(error));
    const screen = openViewOnStage(Failing);
    await screen.waitFor(text => shownOf(text).includes(words));
  });

  it('reports it and closes as a window', async () => {
    const Failing = lazyWindow<{ readonly onClose: () => void }>(() => Promise.reject(error));
    const screen = openOnStage(close => <Failing onClose={close} />, { columns: 140 });
    await screen.waitFor(text => shownOf(text).includes(words) && text.includes('behind'));
  });
});
