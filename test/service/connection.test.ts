/** How connections are made: with TLS, through a proxy, with which certificates. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer, Agent as HttpsAgent } from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { type AddressInfo, connect, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { redactor } from '../../src/config/redaction.ts';
import { type Agent, isTrustedProxy } from '../../src/net/agents.ts';
import { exchange } from '../../src/net/wire.ts';
import { selfSigned } from './certificate.ts';
import { errorOf, hostileServer, json, serviceAt } from './hostile-server.ts';

const page = { items: [], has_more: false };

async function listen(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function tlsServer() {
  const pair = selfSigned('service.example');
  const seen: string[] = [];
  const server = createHttpsServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    seen.push(`${request.headers.host}${request.url}`);
    response.end(JSON.stringify(page));
  });
  const folder = await mkdtemp(join(tmpdir(), 'benchtop-ca-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, pair.certificate);
  return { port: await listen(server), caFile, seen };
}

/** A proxy that takes every request to one port. */
async function proxyTo(port: number) {
  const asked: string[] = [];
  const server = createHttpServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.setHeader('content-type', 'application/json').end(JSON.stringify(page));
  });
  server.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, asked };
}

function useProxy(variables: Record<string, string>) {
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY']) {
    vi.stubEnv(name, variables[name]);
    vi.stubEnv(name.toLowerCase(), variables[name.toLowerCase()]);
  }
  onTestFinished(() => void vi.unstubAllEnvs());
}

describe('TLS', () => {
  it('reads the system certificates for a streamed body only if the issuer is unknown (V11)', async () => {
    const pair = selfSigned('localhost');
    const received: string[] = [];
    const server = createHttpsServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
      let text = '';
      request.on('data', part => {
        text += part;
      });
      request.once('end', () => {
        received.push(text);
        response.end('{}');
      });
    });
    const url = new URL(`https://127.0.0.1:${await listen(server)}/storage`);
    const trusting: Agent = { proxy: undefined, protocols: { https: new HttpsAgent({ ca: [pair.certificate] }) } };
    let reads = 0;
    const trustingSystem = async () => {
      reads += 1;
      return trusting;
    };
    let bodies = 0;
    const put = async (agent: Agent) => {
      const body = () => {
        bodies += 1;
        return Readable.from([Buffer.from('the whole '), Buffer.from('file')], { objectMode: false });
      };
      const { signal } = new AbortController();
      const limits = { connectMs: 5_000, silenceMs: 5_000, signal };
      const answer = await exchange({
        method: 'PUT',
        url,
        headers: { 'content-length': '14' },
        body,
        agent,
        ...limits,
      });
      for await (const _ of answer.chunks());
    };
    await put({ ...trusting, trustingSystem });
    expect([received, reads, bodies]).toEqual([['the whole file'], 0, 1]);
    await put({ proxy: undefined, protocols: { https: new HttpsAgent() }, trustingSystem });
    expect([received, reads, bodies]).toEqual([['the whole file', 'the whole file'], 1, 3]);
  });

  it('reads the system certificates once, and only if the issuer is unknown', async () => {
    const { port, caFile } = await tlsServer();
    const tls = process.getBuiltinModule('node:tls');
    const { getCACertificates } = tls;
    const certificate = await readFile(caFile, 'utf8');
    const read = vi
      .spyOn(tls, 'getCACertificates')
      .mockImplementation(type => (type === 'system' ? [certificate] : getCACertificates(type)));
    // The named imports of Node's modules follow only then.
    syncBuiltinESMExports();
    onTestFinished(() => {
      read.mockRestore();
      syncBuiltinESMExports();
    });
    const reads = () => read.mock.calls.filter(([type]) => type === 'system').length;
    expect(await errorOf(serviceAt('https://127.0.0.1:1').service.call('listBenchmarks'))).toMatchObject({
      code: 'ECONNREFUSED',
    });
    expect(reads()).toBe(0);
    const { service } = serviceAt(`https://127.0.0.1:${port}`);
    await Promise.all([service.call('listBenchmarks'), service.sendRaw({ method: 'POST', path: '/x' })]);
    await service.call('listBenchmarks');
    expect(reads()).toBe(1);
  });

  it.each([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 1],
    ['SELF_SIGNED_CERT_IN_CHAIN', 1],
    ['UNABLE_TO_GET_ISSUER_CERT', 1],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 1],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 1],
    ['CERT_HAS_EXPIRED', 0],
  ])('%s reads the system certificates %i times', async (code, times) => {
    class Refusing extends HttpsAgent {
      override createConnection(): Socket {
        return new Socket().destroy(Object.assign(new Error('refused'), { code }));
      }
    }
    let reads = 0;
    const agent: Agent = {
      proxy: undefined,
      protocols: { https: new Refusing() },
      trustingSystem: async () => {
        reads += 1;
        return undefined;
      },
    };
    const { signal } = new AbortController();
    const request = { method: 'GET', url: new URL('https://service.example/'), headers: {}, agent, signal } as const;
    await expect(exchange({ ...request, connectMs: 5_000, silenceMs: 5_000 })).rejects.toMatchObject({ code });
    expect(reads).toBe(times);
  });

  it('asks Node whether it trusts a proxy', async () => {
    const { port, caFile } = await tlsServer();
    const url = new URL(`https://127.0.0.1:${port}`);
    expect(await isTrustedProxy(url, 600_000)).toBe(false);
    const { getCACertificates, setDefaultCACertificates } = process.getBuiltinModule('node:tls');
    const before = getCACertificates('default');
    onTestFinished(() => setDefaultCACertificates(before));
    setDefaultCACertificates([...before, await readFile(caFile, 'utf8')]);
    expect(await isTrustedProxy(url, 600_000)).toBe(true);
  });

  it('trusts the certificate of the profile only', async () => {
    const { port, caFile, seen } = await tlsServer();
    const base = `https://127.0.0.1:${port}`;
    await expect(serviceAt(base, { caFile }).service.call('listBenchmarks')).resolves.toMatchObject({ items: [] });
    const { service, waits } = serviceAt(base);
    const error = await errorOf(service.call('listBenchmarks'));
    expect(error).toMatchObject({ kind: 'network', code: 'DEPTH_ZERO_SELF_SIGNED_CERT', attempts: 1 });
    expect((error as Error).message).toContain('could not prove its identity');
    expect((error as Error).message).toContain('caFile');
    expect(waits).toEqual([]);
    expect(seen).toHaveLength(1);
  });

  it('cannot be disabled by the environment', async () => {
    const { port } = await tlsServer();
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    // Node warns about the variable itself.
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => {
      vi.unstubAllEnvs();
      vi.restoreAllMocks();
    });
    const error = await errorOf(serviceAt(`https://127.0.0.1:${port}`).service.call('listBenchmarks'));
    expect(error).toMatchObject({ kind: 'network', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  });

  it('says if the other side does not speak it', async () => {
    const server = await hostileServer(json(page));
    const error = await errorOf(serviceAt(server.url.replace('http:', 'https:')).service.call('listBenchmarks'));
    expect(error).toMatchObject({ kind: 'network', attempts: 1 });
    expect((error as Error).message).toContain('if it does not use TLS, the base URL is wrong');
  });

  it('names a certificate file that cannot be read', async () => {
    const { service } = serviceAt('https://127.0.0.1:1', { caFile: '/nowhere/ca.pem' });
    await expect(service.call('listBenchmarks')).rejects.toMatchObject({
      kind: 'request',
      code: 'ca_file_unreadable',
      param: 'caFile',
      // It may be a variable or a flag that names it.
      message: expect.not.stringContaining('profile'),
    });
  });
});

describe('proxies', () => {
  it('are used for https, with a tunnel', async () => {
    const { port, caFile, seen } = await tlsServer();
    const proxy = await proxyTo(port);
    useProxy({ HTTPS_PROXY: proxy.url });
    await serviceAt('https://service.example', { caFile }).service.call('listBenchmarks');
    expect(proxy.asked).toEqual(['CONNECT service.example:443']);
    expect(seen).toEqual(['service.example/api/v1/benchmarks']);
  });

  it('are used for http if the profile allows it', async () => {
    const proxy = await proxyTo(1);
    useProxy({ HTTP_PROXY: proxy.url });
    await serviceAt('http://service.example', { allowInsecureHttp: true }).service.call('listBenchmarks');
    expect(proxy.asked).toEqual(['GET http://service.example/api/v1/benchmarks']);
  });

  it('are never used for this machine', async () => {
    const proxy = await proxyTo(1);
    useProxy({ HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url });
    const server = await hostileServer(json(page));
    await serviceAt(server.url).service.call('listBenchmarks');
    await serviceAt(server.url.replace('127.0.0.1', 'localhost')).service.call('listBenchmarks');
    expect(server.requests).toHaveLength(2);
    expect(proxy.asked).toEqual([]);
  });

  it('are not used for hosts in NO_PROXY', async () => {
    const proxy = await proxyTo(1);
    useProxy({ HTTP_PROXY: proxy.url, NO_PROXY: 'service.invalid' });
    const error = await errorOf(
      serviceAt('http://service.invalid', { allowInsecureHttp: true }).service.call('listBenchmarks'),
    );
    expect(error).toMatchObject({ kind: 'network', outcomeUnknown: false });
    expect(proxy.asked).toEqual([]);
  });

  it('may be shared by all protocols', async () => {
    const { port, caFile } = await tlsServer();
    const proxy = await proxyTo(port);
    useProxy({ ALL_PROXY: proxy.url });
    await serviceAt('https://service.example', { caFile }).service.call('listBenchmarks');
    expect(proxy.asked).toEqual(['CONNECT service.example:443']);
  });

  it.each([
    [{ HTTPS_PROXY: 'foo' }, 'HTTPS_PROXY is not a proxy address. Nothing was sent.'],
    [{ ALL_PROXY: 'socks5://user:hunter2@p:1' }, 'ALL_PROXY names a socks5 proxy. Nothing was sent.'],
  ])('that are invalid are never bypassed: %o', async (variables, words) => {
    useProxy(variables);
    const { service, waits } = serviceAt('https://service.example');
    const error = await errorOf(service.call('listBenchmarks'));
    expect(error).toMatchObject({ kind: 'request', code: 'proxy_unusable' });
    expect((error as Error).message).toBe(`${words} Set it to http://host:port, or add service.example to NO_PROXY.`);
    expect(waits).toEqual([]);
  });

  it('are named if the connection to them fails', async () => {
    useProxy({ HTTPS_PROXY: 'http://user:hunter2@127.0.0.1:1' });
    const error = await errorOf(serviceAt('https://service.example').service.call('listBenchmarks'));
    expect((error as Error).message).toBe(
      'The proxy 127.0.0.1:1 (HTTPS_PROXY) refuses connections (ECONNREFUSED). Nothing was sent. Check HTTPS_PROXY, or add service.example to NO_PROXY.',
    );
  });

  it.each([
    [
      407,
      1,
      'asks for a user and a password. Nothing was sent. Put them into HTTPS_PROXY, before the host: USER:PASSWORD@HOST',
    ],
    [403, 1, 'did not connect to service.example (status 403). Nothing was sent. Check HTTPS_PROXY, or add'],
    [503, 3, 'did not connect to service.example (status 503). Nothing was sent.'],
  ])('that refuse with %i are tried %i times, with the reason', async (status, attempts, words) => {
    const refusing = createHttpServer();
    refusing.on('connect', (_, socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`));
    const port = await listen(refusing);
    useProxy({ HTTPS_PROXY: `http://user:hunter2@127.0.0.1:${port}` });
    const error = await errorOf(serviceAt('https://service.example').service.call('listBenchmarks'));
    expect(error).toMatchObject({ kind: 'network', attempts });
    expect((error as Error).message).toContain(`The proxy 127.0.0.1:${port} (HTTPS_PROXY) ${words}`);
    expect(String(error)).not.toContain('hunter2');
  });

  it.each([
    ['http', 'connect', 'did not connect to service.example (ERR_PROXY_TUNNEL)'],
    ['https', 'connection', 'cannot be reached (ECONNRESET)'],
  ])('are named if %s ones close the connection on %s', async (protocol, event, words) => {
    const closing = createHttpServer();
    closing.on(event, (...given) => void given.find(each => each instanceof Socket)?.destroy());
    const port = await listen(closing);
    useProxy({ HTTPS_PROXY: `${protocol}://127.0.0.1:${port}` });
    const error = await errorOf(serviceAt('https://service.example').service.call('listBenchmarks'));
    expect((error as Error).message).toBe(
      `The proxy 127.0.0.1:${port} (HTTPS_PROXY) ${words}. Nothing was sent. Check HTTPS_PROXY, or add service.example to NO_PROXY.`,
    );
  });

  it('are named if they ask for a password without a tunnel', async () => {
    const refusing = createHttpServer((_, response) => void response.writeHead(407).end());
    const port = await listen(refusing);
    useProxy({ HTTP_PROXY: `http://127.0.0.1:${port}` });
    const { service } = serviceAt('http://service.example', { allowInsecureHttp: true });
    const error = await errorOf(service.call('createSecret', { body: { name: 'a', value: 'b' } }));
    expect(error).toMatchObject({ kind: 'network', outcomeUnknown: false, attempts: 1 });
    // As shown: text that looks like a password in an address is left out.
    expect(redactor([])((error as Error).message)).toBe(
      `The proxy 127.0.0.1:${port} (HTTP_PROXY) asks for a user and a password. Nothing was sent. Put them into HTTP_PROXY, before the host: USER:PASSWORD@HOST:PORT.`,
    );
  });

  it('are named if they replace the certificate', async () => {
    const { port } = await tlsServer();
    const proxy = await proxyTo(port);
    useProxy({ HTTPS_PROXY: proxy.url });
    const error = await errorOf(serviceAt('https://service.example').service.call('listBenchmarks'));
    expect((error as Error).message).toContain('could not prove its identity (DEPTH_ZERO_SELF_SIGNED_CERT)');
    expect((error as Error).message).toContain(`(HTTPS_PROXY) may have replaced the certificate`);
  });

  it.each(['https://service.example', 'http://service.example'])(
    'are named if their own certificate is not trusted, for %s',
    async address => {
      const { port } = await tlsServer();
      useProxy({ ALL_PROXY: `https://127.0.0.1:${port}` });
      const error = await errorOf(serviceAt(address, { allowInsecureHttp: true }).service.call('listBenchmarks'));
      expect(error).toMatchObject({ kind: 'network', attempts: 1, outcomeUnknown: false });
      expect((error as Error).message).toBe(
        `The proxy 127.0.0.1:${port} (ALL_PROXY) could not prove its identity (DEPTH_ZERO_SELF_SIGNED_CERT). Nothing was sent. If it uses a certificate of your own, name its file in NODE_EXTRA_CA_CERTS; if it does not use TLS, set ALL_PROXY to http://HOST:PORT.`,
      );
    },
  );

  it('that do not answer time out', async () => {
    const mute = createHttpServer();
    mute.on('connect', () => {});
    useProxy({ HTTPS_PROXY: `http://user:hunter2@127.0.0.1:${await listen(mute)}` });
    const { service } = serviceAt('https://service.example', { timeouts: { silenceMs: 50 } });
    const error = await errorOf(service.call('createSecret', { body: { name: 'a', value: 'b' } }));
    expect(error).toMatchObject({ kind: 'timeout', outcomeUnknown: false, attempts: 3 });
    expect(String(error)).toMatch(/was silent through the proxy 127\.0\.0\.1:\d+ \(HTTPS_PROXY\) for 50 ms/);
    expect(String(error)).not.toContain('hunter2');
  });
});
