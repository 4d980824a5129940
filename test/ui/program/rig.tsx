/** The whole program in process on any service, for walks through every view. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NoticeKind } from '../../../src/config/preferences.ts';
import type { PollIntervals } from '../../../src/queries/polling.ts';
import type { Place } from '../../../src/resources/place.ts';
import { createService, type Service } from '../../../src/service/index.ts';
import type { RememberedStore } from '../../../src/store/store.ts';
import type { Connection } from '../../../src/ui/app/connection.ts';
import { type Failure, Failures } from '../../../src/ui/app/failures.ts';
import { Program } from '../../../src/ui/app/program.tsx';
import type { TerminalPort } from '../../../src/ui/app/terminal-port.ts';
import { registry } from '../../../src/ui/views/registry.ts';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';
import type { Workbench } from '../../../src/workbench/workbench.ts';
import { openScreen, type Screen, type ScreenOptions } from '../../screen.ts';
import { newWorkbench } from '../../workbench/new-workbench.ts';

export interface RigOptions extends ScreenOptions {
  /** One that never answers, if it is missing. */
  readonly service?: Service;
  readonly start?: Place;
  readonly readOnly?: boolean;
  readonly notices?: NoticeKind;
  /** How long a notice stays: by default, so long that a slow machine cannot miss it; undefined for as long as usual. */
  readonly toastMs?: number | undefined;
  /** The usual intervals, if it is missing. */
  readonly poll?: PollIntervals;
  /** Where the settings come from. */
  readonly connection?: Connection;
  /** The remembered store of earlier starts; empty by default. */
  readonly remembered?: () => RememberedStore;
}

export interface Rig {
  readonly screen: Screen;
  readonly workbench: Workbench;
  /** The failures of the program so far, with the thrown errors. */
  readonly failed: readonly { readonly error: unknown; readonly failure: Failure }[];
  /** Bytes that drew nothing: copied text, notices. */
  readonly sent: readonly string[];
  readonly quits: () => number;
  readonly close: () => void;
}

/** Opens the program at `start`. The caller closes it. */
export function openProgram(options: RigOptions = {}): Rig {
  const { service, start, readOnly = false, notices, poll, remembered, connection, ...others } = options;
  const { toastMs, ...size } = { toastMs: 600_000, ...others };
  const failed: { error: unknown; failure: Failure }[] = [];
  const failures: Failures = new Failures({
    write: error => {
      failed.push({ error, failure: { words: String(error), report: undefined } });
      return undefined;
    },
    redact: text => text,
  });
  const sent: string[] = [];
  let quits = 0;
  const terminal: TerminalPort = {
    writeRaw: sequence => sent.push(sequence),
    runExternal: async () => 0,
    suspend: () => {},
    quit: () => {
      quits += 1;
    },
    repaint: () => {},
    failures,
  };
  const silent = new Promise<Service>(() => {});
  const workbench = newWorkbench({
    service: async () => service ?? silent,
    readOnly,
    ...(service && { gate: service.gate }),
    ...(poll && { poll }),
    ...(remembered && { remembered }),
  });
  const screen = openScreen(
    <Program
      workbench={workbench}
      theme={createTheme()}
      registry={registry}
      terminal={terminal}
      {...(start && { start })}
      {...(connection && { connection })}
      {...(notices && { notices })}
      {...(toastMs && { toastMs })}
    />,
    { columns: 140, rows: 40, ...size },
  );
  return {
    screen,
    workbench,
    failed,
    sent,
    quits: () => quits,
    close: () => {
      screen.close();
      workbench.close();
    },
  };
}

export interface Between {
  readonly service: Service;
  /** Resolves once nothing is being asked any more. */
  readonly quiet: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** An answer that replaces the service's own. */
export interface Refusal {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A service whose answers are changed on their way: `change` is given the text of each JSON answer. What `refuse` answers
 * does not reach the service.
 */
export async function between(
  target: { readonly baseUrl: string; readonly apiKey: string },
  change: (text: string, path: string) => string,
  refuse: (method: string, path: string) => Refusal | undefined = () => undefined,
): Promise<Between> {
  let asked = 0;
  let answered = 0;
  const server: Server = createServer((request, response) => {
    asked += 1;
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    const pass = async (): Promise<void> => {
      const { method = 'GET', url = '/' } = request;
      const refusal = refuse(method, url);
      if (refusal) {
        response.writeHead(refusal.status, { 'content-type': 'application/json', ...refusal.headers });
        response.end(JSON.stringify(refusal.body));
        answered += 1;
        return;
      }
      const headers: Record<string, string> = {};
      for (const name of ['x-api-key', 'authorization', 'content-type', 'accept'] as const) {
        const value = request.headers[name];
        if (typeof value === 'string') headers[name] = value;
      }
      const body = parts.length > 0 ? Buffer.concat(parts).toString() : undefined;
      const answer = await fetch(target.baseUrl + url, { method, headers, ...(body !== undefined && { body }) });
      const text = await answer.text();
      const type = answer.headers.get('content-type') ?? 'application/json';
      response.writeHead(answer.status, { 'content-type': type });
      response.end(type.includes('json') ? change(text, url) : text);
      answered += 1;
    };
    // The service may stop with a request under way; the client then sees the same as without this in between.
    request.on('end', () => void pass().catch(() => response.destroy()));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const key = async (): Promise<string> => target.apiKey;
  const service = createService({
    baseUrl: `http://127.0.0.1:${port}`,
    apiKey: key,
    inferenceToken: key,
    userAgent: 'test',
  });
  return {
    service,
    quiet: async () => {
      for (let calm = 0; calm < 5; calm = asked === answered ? calm + 1 : 0) {
        await new Promise(resolve => setTimeout(resolve, 10));
      }
    },
    close: async () => {
      await service.close();
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
