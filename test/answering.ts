/** Scripted answers over HTTP, for commands, the built program and the bench. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { endpoints, type Operation } from '../src/contract/endpoints.ts';
import { listenOnNewPort } from './listen.ts';
import type { Answers } from './queries/scripted-service.ts';

const routes = Object.entries(endpoints).map(([operation, { method, path }]) => ({
  operation: operation as Operation,
  method,
  pattern: new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}));

function send(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
}

/**
 * Answers as the script says; anything else is a 404. A buffer is sent as it is, and a function sends its answer itself.
 */
export const answering =
  (answers: Answers) =>
  (response: ServerResponse, { method: wanted, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): void => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    for (const { operation, method, pattern } of routes) {
      const ids = method === wanted ? pattern.exec(pathname) : undefined;
      const answer = ids ? answers[operation] : undefined;
      if (!ids || !answer) continue;
      try {
        const body = answer({ ...ids.groups }, Object.fromEntries(searchParams));
        if (typeof body === 'function') body(response);
        else send(response, body);
        return;
      } catch {
        break;
      }
    }
    const error = { type: 'not_found_error', code: 'resource_not_found', message: 'There is none.' };
    send(response, { error }, 404);
  };

export interface AnsweringServer extends Disposable {
  readonly baseUrl: string;
}

/** Starts a service with these answers on a free port of this machine. */
export async function serveAnswers(answers: Answers): Promise<AnsweringServer> {
  const answer = answering(answers);
  const server = createServer((request, response) => answer(response, request));
  const port = await listenOnNewPort(server);
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
