/** A network within this process: sockets without the kernel, with delays in virtual time, lost packets and resets. */
import http from 'node:http';
import net from 'node:net';
import { Duplex } from 'node:stream';
import '../rig/no-date.ts';
import { Random } from '../rig/random.ts';

/** `refused` also resets open connections; `lost` drops packets silently. */
export type Weather = 'up' | 'refused' | 'lost';

const networkError = (code: string): Error => Object.assign(new Error(`virtual ${code}`), { code });

class VirtualSocket extends Duplex {
  readonly network: VirtualNetwork;
  readonly port: number;
  readonly delayMs: number;
  peer: VirtualSocket | undefined;
  connecting = true;
  readonly remoteAddress = '127.0.0.1';
  readonly remoteFamily = 'IPv4';
  /** Deliveries to the peer that wait while packets are lost. */
  #held: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  #over = false;

  constructor(network: VirtualNetwork, port: number, delayMs: number, allowHalfOpen: boolean) {
    super({ allowHalfOpen });
    this.network = network;
    this.port = port;
    this.delayMs = delayMs;
  }

  /** Runs this when the network delivers it to the peer. */
  #send(arrive: () => void): void {
    setTimeout(() => {
      if (this.network.weather(this.port) === 'lost') this.#held.push(arrive);
      else arrive();
    }, this.delayMs);
  }

  /** The network is up again. */
  release(): void {
    const held = this.#held;
    this.#held = [];
    for (const arrive of held) arrive();
  }

  override _read(): void {}

  override _write(part: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.#send(() => {
      if (this.peer && !this.peer.destroyed) this.peer.push(part);
    });
    this.#timer?.refresh();
    done();
  }

  override _final(done: (error?: Error) => void): void {
    this.#send(() => this.peer?.over());
    done();
  }

  /** The peer sends no more. */
  over(): void {
    if (this.destroyed || this.#over) return;
    this.#over = true;
    this.push(null);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timer);
    const { peer } = this;
    this.#send(() => {
      if (error) peer?.destroy(networkError('ECONNRESET'));
      else peer?.over();
      this.network.sockets.delete(this);
    });
    done(error);
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  resetAndDestroy(): this {
    return this.destroy(networkError('ECONNRESET'));
  }

  setTimeout(ms: number, listener?: () => void): this {
    clearTimeout(this.#timer);
    if (ms > 0) this.#timer = setTimeout(() => this.emit('timeout'), ms);
    if (listener) this.once('timeout', listener);
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

export class VirtualNetwork {
  readonly sockets = new Set<VirtualSocket>();
  #random = new Random('network');
  readonly #servers = new Map<number, net.Server>();
  readonly #weather = new Map<number, Weather>();
  #ports = 40_000;

  /** Seeds the delays. */
  reseed(random: Random): void {
    this.#random = random;
  }

  /** Routes every HTTP connection of this process through this network. */
  install(): void {
    const network = this;
    http.Agent.prototype.createConnection = options => network.connect(Number(options.port)) as unknown as net.Socket;
    const server = net.Server.prototype;
    server.listen = function listen(this: net.Server, asked: number, _host: unknown, callback: () => void) {
      network.#ports += 1;
      const port = asked || network.#ports;
      network.#servers.set(port, this);
      this.address = () => ({ port, address: '127.0.0.1', family: 'IPv4' });
      // It would close connections by real time.
      Object.assign(this, { connectionsCheckingInterval: 2 ** 31 - 1 });
      this.emit('listening');
      setTimeout(callback, 1);
      return this;
    } as typeof server.listen;
    server.close = function close(this: net.Server, callback?: () => void) {
      for (const [port, known] of network.#servers) if (known === this) network.#servers.delete(port);
      (this as http.Server).closeIdleConnections?.();
      setTimeout(() => callback?.(), 1);
      return this;
    } as typeof server.close;
  }

  weather(port: number): Weather {
    return this.#weather.get(port) ?? 'up';
  }

  setWeather(port: number, weather: Weather): void {
    this.#weather.set(port, weather);
    const touched = [...this.sockets].filter(socket => socket.port === port);
    if (weather === 'refused') for (const socket of touched) socket.resetAndDestroy();
    if (weather === 'up') for (const socket of touched) socket.release();
  }

  /** Ends a server like a crash of its process: nothing that it still does has an effect. */
  cut(port: number): void {
    this.#servers.delete(port);
    for (const socket of [...this.sockets]) {
      if (socket.port !== port) continue;
      socket.peer = undefined;
      socket.resetAndDestroy();
    }
  }

  connect(port: number): VirtualSocket {
    const delayMs = this.#random.between(1, 20);
    const [near, far] = [new VirtualSocket(this, port, delayMs, false), new VirtualSocket(this, port, delayMs, true)];
    near.on('error', () => {});
    far.on('error', () => {});
    this.sockets.add(near);
    const open = (): void => {
      if (near.destroyed) return;
      // A packet that opens a connection is resent until it arrives.
      if (this.weather(port) === 'lost') return void setTimeout(open, 1_000);
      const server = this.#servers.get(port);
      if (!server || this.weather(port) === 'refused') return void near.destroy(networkError('ECONNREFUSED'));
      this.sockets.add(far);
      [near.peer, far.peer] = [far, near];
      [near.connecting, far.connecting] = [false, false];
      server.emit('connection', far);
      near.emit('connect');
    };
    setTimeout(open, delayMs);
    return near;
  }
}
