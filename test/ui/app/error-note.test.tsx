/** How a screen shows a refusal: from the answer of the service to the text. */

import { describe, expect, it } from 'vitest';
import { asError } from '../../../src/base/errors.ts';
import { ServiceError } from '../../../src/service/errors.ts';
import { noteLines, settingAdvice } from '../../../src/ui/app/error-note.tsx';
import { Router } from '../../../src/ui/keys/key-router.ts';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';
import { type Behaviour, errorOf, hostileServer, refusal, serviceAt, text } from '../../service/hostile-server.ts';

async function errorAfter(behaviour: Behaviour): Promise<Error> {
  const server = await hostileServer(behaviour);
  return asError(await errorOf(serviceAt(server.url).service.background.call('listBenchmarks')));
}

const { keyOf } = new Router({ overrides: {}, readOnly: false });

function linesOf(error: Error, isLocal = false): string {
  const origins = ['The key comes from apiKeyFile in config.json.'];
  const advice = settingAdvice({ origins, isLocal }, keyOf);
  return noteLines(error, { width: 100, height: 12 }, createTheme(), advice).join('\n');
}

describe('the place of the settings', () => {
  it.each<[string, Behaviour]>([
    ['a 401 of the service', refusal(401, 'authentication_error', 'invalid_api_key')],
    ['a 401 of a gateway', text('<title>Sign in</title>', 401)],
    ['a 403 of the service', refusal(403, 'permission_error', 'permission_denied')],
    ['a 403 of a gateway', text('', 403)],
  ])('is shown after %s', async (_, behaviour) => {
    const shown = linesOf(await errorAfter(behaviour));
    expect(shown).toContain('The key comes from apiKeyFile in config.json.');
    expect(shown).toContain('Press ctrl-k to change them, or r to try again.');
  });

  it('is not shown for the settings of the local service', async () => {
    const shown = linesOf(await errorAfter(text('', 403)), true);
    expect(shown).toContain('Press r to try again.');
    expect(shown).not.toContain('ctrl-k');
  });

  it.each<[string, Behaviour]>([
    ['a 500', refusal(500, 'api_error', 'internal_error')],
    ['a 404', refusal(404, 'invalid_request_error', 'resource_not_found')],
  ])('is not shown after %s', async (_, behaviour) => {
    expect(linesOf(await errorAfter(behaviour))).not.toContain('The key comes from');
  });
});

it('names each failed item of a batch, and shows the rest of the service’s message', async () => {
  const failures = [0, 3, 5].map(index => ({ item_index: index, message: `step ${index} \u001b[2Jis empty` }));
  const context = { failures, batch: 'b_1' };
  const error = await errorAfter(
    refusal(422, 'invalid_request_error', 'invalid_trajectory_upload', { message: 'Three of six are wrong', context }),
  );
  expect(error).toMatchObject({ kind: 'validation', failures });
  const shown = linesOf(error);
  expect(shown).toContain('The first of 3 errors is item 0: step 0');
  expect(shown).toContain('item 3: step 3');
  expect(shown).toContain('item 5: step 5');
  expect(shown).toContain('{"batch":"b_1"}');
  expect(shown).not.toContain('\u001b[2J');
});

it('shows the code of the service next to the request id, not before the message', () => {
  const facts = { requestId: 'req_0123456789', code: 'resource_not_found' };
  const error = new ServiceError('not_found', 'There is no run evr_1.', facts);
  const [first, second] = linesOf(error).split('\n');
  expect(first).toContain('There is no run evr_1.');
  expect(second).toContain('request req_0123456789  resource_not_found');
  // Without room for both on a line, the id is whole.
  const narrow = noteLines(error, { width: 30, height: 12 }, createTheme(), []).join('');
  expect(narrow).toContain('request req_0123456789');
  expect(narrow).not.toContain('resource_not_found');
});

it('names a field on a line of its own only if the message does not (out33 C10)', () => {
  const shown = (message: string) => linesOf(new ServiceError('validation', message, { param: 'base_model_slug' }));
  expect(shown('No such model. Its owner may know.')).toContain('field base_model_slug');
  expect(shown('base_model_slug: no such model. Fix it and try again.')).not.toContain('field base_model_slug');
});
