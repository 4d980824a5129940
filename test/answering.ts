/** Scripted answers over HTTP, for commands and the built program. */
import { endpoints, type Operation } from '../src/contract/endpoints.ts';
import type { Answers } from './queries/scripted-service.ts';
import { type Behaviour, json } from './service/hostile-server.ts';

const routes = Object.entries(endpoints).map(([operation, { method, path }]) => ({
  operation: operation as Operation,
  method,
  pattern: new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}));

/** Answers as the script says; anything else is a 404. */
export const answering =
  (answers: Answers): Behaviour =>
  (response, request) => {
    const path = request.url.split('?')[0] ?? '';
    for (const { operation, method, pattern } of routes) {
      const ids = method === request.method ? pattern.exec(path) : undefined;
      const answer = ids ? answers[operation] : undefined;
      if (!ids || !answer) continue;
      try {
        return json(answer({ ...ids.groups }))(response, request);
      } catch {
        break;
      }
    }
    const error = { type: 'not_found_error', code: 'resource_not_found', message: 'There is none.' };
    return json({ error }, 404)(response, request);
  };
